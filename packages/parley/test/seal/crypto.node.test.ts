import * as node from '../../src/seal/crypto.node.js';
import * as web from '../../src/seal/crypto.web.js';
import { sealerSuite } from './sealer-suite.js';

sealerSuite('node:crypto', node, web);
