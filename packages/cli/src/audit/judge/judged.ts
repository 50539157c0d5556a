import type { Severity, Verdict } from '../attack.js';

/** What one reply says about the target. */
export interface Judged {
  readonly verdict: Verdict;
  readonly severity?: Severity;
  /** What the server did, as it stands in a sentence: "refused", "takes it and goes on". */
  readonly did: string;
}
