export {
  TRANSACTION,
  type ClaimRequest,
  type ClaimResult,
  type Fenced,
  type Ledger,
  type TransactionWork,
} from './ledger.js';
export { memoryLedger, type MemoryLedgerOptions } from './memory.js';
