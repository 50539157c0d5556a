/** The server of the tests as a program, on stdin and stdout. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { flowsServer } from './flows.js';

console.error('The program is up.');
serveStdio(flowsServer(process.env['PARLEY_KEYS'] ?? ''));
