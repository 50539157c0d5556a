/**
 * The terminal as a person uses it: forms, URLs to be opened, and a sign of life while the server works.
 */
export { terminalHandlers, type AskOptions } from './handlers.js';
export { Interrupted } from './interrupted.js';
export { openUrl } from './open-url.js';
export { progress, type Progress } from './progress.js';
export type { Terminal } from './terminal.js';
