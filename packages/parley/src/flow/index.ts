export { checkLimits, DEFAULT_FLOW_LIMITS, type FlowLimits } from './limits.js';
export type {
  ClientView,
  DetachOptions,
  ElicitOutcome,
  Flow,
  FormQuestion,
  OnceOptions,
  Recorded,
  StepContext,
  UrlOutcome,
  WaitOptions,
} from './flow.js';
export type {
  BooleanField,
  ChoicesField,
  FormField,
  NumberField,
  RestrictedSchema,
  TextField,
} from '../form/index.js';
export type { FormContent, FormSchema } from './form-schema.js';
export type { Json, JsonCompatible } from './json.js';
export { ownAnswer, readAnswer } from './answer.js';
export { readEntry, type Journal, type JournalEntry } from './journal.js';
export type { Question, QuestionKind } from './question.js';
export type { AskedQuestion } from './questions.js';
export { runFlow, type AttachedOutcome, type RunOutcome } from './run.js';
export type { KeyedQuestion, RunHost, RunInput } from './run-input.js';
export type { CreateMessageAnswer, CreateMessageParams, Root, SamplingContent } from './sampling.js';
export { runtimeScheduler, type Scheduler } from './scheduler.js';
export type { StandardSchema } from './standard-schema.js';
export { readAttempt, writeAttempt, type Attempt } from './attempt.js';
export type { OnceKeeper, OnceRequest } from './once.js';
