/**
 * The client's side of calls that ask in the middle: a driver, and under it a stepper whose state can be stored.
 */
export { checkAnswer, type Answer, type AnswerCheck, type Answers, type Refusal } from './answer.js';
export type { AskContext, Handlers } from './ask.js';
export type { Clock } from './clock.js';
export { describeUrl, type UrlDescription, type UrlWarning } from './describe-url.js';
export { drive, resume } from './drive.js';
export type { DriveOptions, ResumeOptions } from './drive-options.js';
export { fileStore } from './file-store.js';
export type { ServerIdentity } from './identity.js';
export type { DrivePolicy, RetryPreview, TaskPolicy } from './policy.js';
export type { DriveProgress } from './progress.js';
export type {
  FormQuestion,
  Question,
  QuestionKind,
  RootsQuestion,
  SamplingQuestion,
  UrlQuestion,
} from './question.js';
export { prefill } from './read-form.js';
export type {
  DrivenMethod,
  DrivenMethods,
  DrivenRequest,
  DrivenResult,
  GivenRequest,
  TargetByName,
  TargetByUri,
} from './request.js';
export type { AnswersByKey } from './responses.js';
export { flowOf, loadFlow, type SavedFlow } from './saved-flow.js';
export type { RequestSettings } from './send.js';
export { Stepper, type NextOptions, type Step, type StepOptions, type StepperOptions } from './stepper.js';
export type { FlowStore } from './store.js';
export type { SavedTask, TaskStatus } from './task.js';
export type {
  BooleanField,
  ChoicesField,
  FieldValue,
  FormField,
  NumberField,
  RestrictedSchema,
  TextField,
} from '../form/index.js';
export {
  AnswerRefused,
  CallStopped,
  ConfigurationError,
  ConnectionBusy,
  DriveError,
  DriveLimit,
  FlowNotSaved,
  GoingNowhere,
  InvalidResponse,
  ParleyError,
  RequestStateRefused,
  RetryNotTaken,
  RetryUnknown,
  SavedFlowForeign,
  SavedFlowInvalid,
  SavedFlowOutdated,
  ServerNotAllowed,
  TaskCancelled,
  TaskGone,
  TaskUnreachable,
  Unanswered,
  UnsafeUrl,
  type ParleyErrorCode,
} from '../errors.js';
