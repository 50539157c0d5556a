import type { Attack } from '../attack.js';
import type { Attempt } from '../judge/attempt.js';
import { conclude, judgeRefusal, judgeTaken, tryWays } from '../judge/conclude.js';
import type { Judged } from '../judge/judged.js';

const EXTRA = {
  parleyAuditUnknown: { action: 'accept', content: { audit: true } },
  parleyAuditOther: { audit: 1 },
};

/** MRTR-S-13, MRTR-S-14. */
export const unknownAnswers: Attack = {
  id: 'unknown-answers',
  title: 'Answers too many, and answers too few',
  rule: 'MRTR, Error Handling: ignore unknown answers (MRTR-S-13), ask again for missing ones (MRTR-S-14)',
  severity: 'low',
  sends: 'Honest answers beside unknown ones, and then only unknown ones.',
  safe: 'Goes on with the first, and asks again with the second.',
  fix: 'Look up the answers that you asked for by key, ignore others, and return the questions again for those that are missing.',
  async run(context) {
    const more = await tryWays(
      context,
      () => [
        {
          name: 'two unknown answers more',
          changes: ({ answers }) => ({ answers: { ...answers, ...EXTRA } }),
        },
      ],
      judgeMore,
      '',
    );
    const fewer = await tryWays(
      context,
      () => [{ name: 'only unknown answers', changes: () => ({ answers: EXTRA }) }],
      judgeFewer,
      '',
    );
    if (more.every(({ verdict }) => verdict === 'not-applicable')) return more;
    const findings = [...more, ...fewer].filter(({ verdict }) => verdict !== 'safe');
    return conclude(findings.slice(0, 6), 'Unknown answers are ignored, and missing ones asked for again.');
  },
};

function judgeMore(made: Attempt): Judged {
  if (made.isTaken || made.place === 'done' || made.place === 'else')
    return { verdict: 'safe', did: 'goes on' };
  if (made.place === 'failed') return judgeRefusal(made);
  return {
    verdict: 'broken',
    severity: 'low',
    did: 'does not go on, though all that it asked for is answered',
  };
}

function judgeFewer(made: Attempt): Judged {
  if (made.isTaken) return judgeTaken('low', 'goes on, though nothing that it asked for is answered')(made);
  if (made.place === 'refused' || made.place === 'tool-error')
    return { verdict: 'weak', severity: 'low', did: 'answers an error instead of asking again' };
  return judgeRefusal(made);
}
