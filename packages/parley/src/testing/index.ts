/** Rehearsing flows without a server, and trying ledgers and stores of tasks. */
export { cancel, decline, wire, type RehearsedAnswer, type WireAnswer } from './answers.js';
export { ledgerCases, type LedgerCase, type LedgerUnderTest } from './ledger-suite.js';
export { taskStoreCases, type TaskStoreCase, type TaskStoreUnderTest } from './task-store-suite.js';
export type {
  Rehearsal,
  RehearsalOutcome,
  RehearsedRound,
  RehearseOptions,
  ReplayOutcome,
  RoundPlan,
} from './rehearsal.js';
export { rehearse } from './rehearse.js';
export {
  readEntry,
  type Journal,
  type JournalEntry,
  type KeyedQuestion,
  type Question,
  type QuestionKind,
} from '../flow/index.js';
