/** Rehearsing flows without a server, and trying ledgers. */
export { cancel, decline, wire, type RehearsedAnswer, type WireAnswer } from './answers.js';
export { ledgerCases, type LedgerCase, type LedgerUnderTest } from './ledger-suite.js';
export {
  rehearse,
  type RehearsalOutcome,
  type Rehearsal,
  type RehearsedRound,
  type RehearseOptions,
  type RoundPlan,
} from './rehearse.js';
export {
  readEntry,
  type Journal,
  type JournalEntry,
  type KeyedQuestion,
  type Question,
  type QuestionKind,
} from '../flow/index.js';
