import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder `conformance/`. */
export const CONFORMANCE = dirname(dirname(fileURLToPath(import.meta.url)));

/** The root of the repository: `tsx` and the workspace's packages resolve from here. */
export const ROOT = dirname(CONFORMANCE);

/** The official suite as it is installed. */
export const SUITE = join(CONFORMANCE, 'node_modules', '@modelcontextprotocol', 'conformance');
