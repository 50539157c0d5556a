/** Serves nightly.ts over HTTP. With tasks in memory it also runs them; with a database the workers do. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { log, nightlyServer } from './nightly.js';

// Once a request: the server is stateless.
const mcp = toNodeHandler(createMcpHandler(nightlyServer));

// The cast is for `exactOptionalPropertyTypes` alone; without that option it is not needed.
const http = createServer(mcp as RequestListener);
http.listen(0, '127.0.0.1', () => log('listening', { port: (http.address() as AddressInfo).port }));

// Started by the demo, it ends with it, however the demo ends.
process.once('disconnect', () => process.exit());
