import type { Attack, AuditContext, Finding, Pause } from '../attack.js';
import { peel, type Readable } from '../state/peel.js';
import { fieldsOf, scalarsOf } from '../state/rewrite.js';
import { secretsIn } from '../state/secrets.js';
import { hasState, NO_STATE, type StatePause } from '../state/trials.js';

const MOST_NAMES = 12;

/** What a state shows to whoever sees it (STATE-12). */
export const stateReadable: Attack = {
  id: 'state-readable',
  title: 'A state that can be read',
  rule: 'SEP-2322, Protocol Requirements for Ephemeral Workflow (STATE-12)',
  severity: 'medium',
  sends:
    'Nothing: it decodes the states of the honest flow (base64, hexadecimal, JSON, JWT, MessagePack, gzip, deflate).',
  safe: 'Its states show nothing.',
  fix: 'Encrypt the state (an AEAD), or keep in it only an id of what is kept in the server.',
  run: (context) => {
    const { pauses } = context.honest;
    const withState = pauses.filter(hasState);
    if (withState.length === 0) return Promise.resolve(NO_STATE);
    const findings = withState.flatMap((pause) =>
      findingsAt(pause, answersBefore(pauses, pause.round), (text) => context.revealsSecretOf(text)),
    );
    return Promise.resolve(
      findings.length > 0 ? findings : [{ verdict: 'safe', found: 'None of the states can be read.' }],
    );
  },
};

function findingsAt(
  { round, state }: StatePause,
  known: readonly string[],
  headerIn: AuditContext['revealsSecretOf'],
): readonly Finding[] {
  const readable = peel(state);
  if (readable.length === 0) return [];
  const secrets = readable.flatMap(({ value }) => secretsIn(value, known, headerIn));
  const layers = readable.map(layersOf).join('; ');
  return secrets.length > 0
    ? [
        {
          verdict: 'broken',
          severity: 'medium',
          round,
          found: `The state can be read (${layers}), and shows ${listed(secrets.map(({ field, kind }) => `${kind} in \`${field}\``))}.`,
        },
      ]
    : [
        {
          verdict: 'weak',
          severity: 'note',
          round,
          found: `The state can be read (${layers}): ${listed(readable.flatMap(namesOf))}.`,
        },
      ];
}

function layersOf({ layers, part }: Readable): string {
  return (part === undefined ? '' : `part ${part + 1}: `) + layers.join(' of ');
}

function namesOf({ value }: Readable): readonly string[] {
  const fields = fieldsOf(value);
  return fields.length === 0 ? ['a text'] : fields.map((field) => `\`${field}\``);
}

function listed(names: readonly string[]): string {
  const all = [...new Set(names)];
  return all.length > MOST_NAMES
    ? `${all.slice(0, MOST_NAMES).join(', ')} and ${all.length - MOST_NAMES} more`
    : all.join(', ');
}

/** The texts that were answered in earlier rounds. */
function answersBefore(pauses: readonly Pause[], round: number): readonly string[] {
  return pauses
    .filter((pause) => pause.round < round)
    .flatMap(({ answers }) => Object.values(answers))
    .flatMap(({ content }) => scalarsOf(content))
    .flatMap(({ scalar }) => (typeof scalar === 'string' ? [scalar] : []));
}
