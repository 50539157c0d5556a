/** HTTP entries for servers of the official SDK: the pooled handler, and a whole server around it. */
export { createPooledHandler, type PooledHandler } from './pooled-handler.js';
export type { PooledHandlerOptions } from './options.js';
export { serveHttp, type HttpServing, type ServeHttpOptions } from './serve-http.js';
