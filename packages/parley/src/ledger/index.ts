export {
  TRANSACTION,
  TransactionRefused,
  type ClaimRequest,
  type ClaimResult,
  type Fenced,
  type Ledger,
  type TransactionRecord,
  type TransactionWork,
} from './ledger.js';
export { memoryLedger, type MemoryLedgerOptions } from './memory.js';
