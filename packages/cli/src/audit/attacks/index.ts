import type { Attack } from '../attack.js';
import { answersOfWrongKind } from './answers-of-wrong-kind.js';
import { answersPolluting } from './answers-polluting.js';
import { answersUnchecked } from './answers-unchecked.js';
import { argumentsUnchecked } from './arguments-unchecked.js';
import { capabilitiesWithheld } from './capabilities-withheld.js';
import { declinedTaken } from './declined-taken.js';
import { endlessPrompting } from './endless-prompting.js';
import { formAsksSecret } from './form-asks-secret.js';
import { headersOnRetry } from './headers-on-retry.js';
import { interimMalformed } from './interim-malformed.js';
import { metaOnRetry } from './meta-on-retry.js';
import { noExpiry } from './no-expiry.js';
import { questionOnForbiddenMethod } from './question-on-forbidden-method.js';
import { refusalTells } from './refusal-tells.js';
import { replayAtOnce } from './replay-at-once.js';
import { replayInSequence } from './replay-in-sequence.js';
import { serverRequests } from './server-requests.js';
import { stateAnonymous } from './state-anonymous.js';
import { stateEdited } from './state-edited.js';
import { stateInvented } from './state-invented.js';
import { stateKind } from './state-kind.js';
import { stateOnlyRetry } from './state-only-retry.js';
import { stateOtherArguments } from './state-other-arguments.js';
import { stateOtherMethod } from './state-other-method.js';
import { stateOtherTool } from './state-other-tool.js';
import { stateOtherUser } from './state-other-user.js';
import { stateOversized } from './state-oversized.js';
import { stateReadable } from './state-readable.js';
import { stateReencoded } from './state-reencoded.js';
import { stateRewritten } from './state-rewritten.js';
import { stateStripped } from './state-stripped.js';
import { statesEqual } from './states-equal.js';
import { stepSkipping } from './step-skipping.js';
import { unknownAnswers } from './unknown-answers.js';
import { urlQuestionUnsafe } from './url-question-unsafe.js';

/**
 * All attacks, in the order of the report. The last two may leave a server in pieces, and run last.
 */
export const ATTACKS: readonly Attack[] = [
  stateEdited,
  stateInvented,
  stateKind,
  stateRewritten,
  stateReencoded,
  stateReadable,
  statesEqual,
  stateOtherUser,
  stateAnonymous,
  stateOtherArguments,
  stateOtherTool,
  stateOtherMethod,
  stepSkipping,
  stateStripped,
  stateOnlyRetry,
  replayInSequence,
  replayAtOnce,
  noExpiry,
  refusalTells,
  declinedTaken,
  answersUnchecked,
  answersOfWrongKind,
  argumentsUnchecked,
  unknownAnswers,
  endlessPrompting,
  capabilitiesWithheld,
  questionOnForbiddenMethod,
  interimMalformed,
  serverRequests,
  formAsksSecret,
  urlQuestionUnsafe,
  headersOnRetry,
  metaOnRetry,
  answersPolluting,
  stateOversized,
];
