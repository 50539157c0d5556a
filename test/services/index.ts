/** Servers for tests and for the chaos run, each with a port and a folder of its own. */
export { findBinary, hasBinary, MissingBinary } from './binaries.js';
export { startPostgres } from './postgres.js';
export { startRedis } from './redis.js';
export { freePort, type Service } from './service.js';
