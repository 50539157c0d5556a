import { quoted, type Schemas } from './postgres-schema.js';

/* One clock for all expressions of a statement, which clock_timestamp() is not, and one that goes on inside of a
 * transaction, which now() does not: the time at which the database got the statement. */
const NOW = 'statement_timestamp()';

/** Names and expressions of one store. */
export interface Sql {
  readonly tasks: string;
  readonly journal: string;
  readonly answers: string;
  readonly workers: string;
  /** The view of graphile-worker's jobs. */
  readonly jobs: string;
  /** The schema of graphile-worker, quoted. */
  readonly queue: string;
  /** The name under which tasks stand in graphile-worker. It has nothing in it that SQL acts on. */
  readonly identifier: string;
  /** Key of the one job that a task may have waiting, as an expression. */
  readonly keyOf: (id: string) => string;
  /** Makes a task's job, as an expression: replaces the one that waits; beside one that a worker has. */
  readonly addJob: (id: string, runAt: string) => string;
}

export function sqlOf({ tables, queue }: Schemas): Sql {
  const table = (name: string): string => `${quoted(tables)}.${name}`;
  const identifier = `parley:${tables}`;
  const keyOf = (id: string): string => `'${identifier}:' || ${id}`;
  return {
    tasks: table('tasks'),
    journal: table('task_journal'),
    answers: table('task_answers'),
    workers: table('task_workers'),
    jobs: `${quoted(queue)}.jobs`,
    queue: quoted(queue),
    identifier,
    keyOf,
    addJob: (id, runAt) =>
      `(${quoted(queue)}.add_job('${identifier}', json_build_object('id', ${id}), run_at => ${runAt}, job_key => ${keyOf(id)})).id`,
  };
}

/** `$n` as a time: it is in ms since 1970. */
const time = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;
/** A time as ms since 1970. */
const ms = (column: string): string => `round(extract(epoch FROM ${column}) * 1000)::float8`;
const after = (parameter: string): string => `${NOW} + ${parameter}::float8 * interval '1 millisecond'`;

/** Somebody was told already that the task is cancelled: its worker is gone, or might as well be (T5). */
const GIVEN_UP = `(cancelled AND lapses <= ${NOW})`;
/** The clock of who created it may be ahead of the database's. */
const TOUCHED = `greatest(updated, ${NOW})`;
const LIVE = `state = 'active' AND expires > ${NOW}`;
/** The claim of `$1` and `$2` may write (T2). */
const HELD = `id = $1 AND fence = $2 AND lapses IS NOT NULL AND ${LIVE} AND NOT ${GIVEN_UP}`;
const WRITABLE = `${HELD} AND NOT cancelled`;
const FREE = `(lapses IS NULL OR lapses <= ${NOW})`;

/** A task with answers that no run has seen is not put off for longer, in ms. */
const SOON = 1_000;

/** What an ended task does not need any more. */
const EMPTIED = `parked = NULL, wires = '{}', due = NULL, lapses = NULL`;

/** Removes what tasks have recorded, as members of a WITH. */
const dropped = ({ journal, answers }: Sql, ended: string): string => `
      dropped_journal AS (DELETE FROM ${journal} USING ${ended} WHERE task = ${ended}.id),
      dropped_answers AS (DELETE FROM ${answers} USING ${ended} WHERE task = ${ended}.id)`;

export type Statements = Readonly<Record<keyof ReturnType<typeof statementsOf>, string>>;

/** Statements that stand alone are transactions of their own; those of a transaction say so. */
export function statementsOf(sql: Sql) {
  const { tasks, journal, answers, addJob } = sql;
  return {
    create: `
      WITH made AS (
        INSERT INTO ${tasks} (id, flow, principal, head, created, updated, ttl, poll_interval, expires, mark_until, due)
        VALUES ($1, $2, $3, $4, ${time('$5')}, ${time('$5')}, $6, $7, ${time('$8')}, greatest(${time('$8')}, ${time('$9')}), ${NOW})
        ON CONFLICT (flow) DO NOTHING RETURNING id),
      begun AS (INSERT INTO ${journal} (task, seq, chunk) SELECT id, 0, $10 FROM made WHERE $10::text IS NOT NULL)
      SELECT id, ${addJob('id', NOW)} FROM made`,
    /** The task that a flow made. One whose mark is over is removed by `dropMark`. */
    made: `SELECT id, mark_until <= ${NOW} AS "isOver" FROM ${tasks} WHERE flow = $1`,
    dropMark: `DELETE FROM ${tasks} WHERE flow = $1 AND mark_until <= ${NOW}`,

    read: `
      SELECT id, CASE WHEN state = 'active' AND ${GIVEN_UP} THEN 'cancelled' ELSE state END AS state,
        principal, head, parked, outcome, note, ${ms('created')} AS "createdAt", ${ms('updated')} AS "updatedAt",
        ttl::float8 AS ttl, poll_interval::float8 AS "pollInterval",
        ARRAY(SELECT wire FROM ${answers} AS a WHERE a.task = t.id AND a.wire = ANY (t.wires) ORDER BY seq) AS answered
      FROM ${tasks} AS t WHERE id = $1 AND expires > ${NOW}`,

    /** Of a transaction: locks the row, so that `park` and `answer` see each other. */
    lockForAnswer: `
      SELECT wires, ${FREE} AS "isFree" FROM ${tasks}
      WHERE id = $1 AND ${LIVE} AND NOT cancelled FOR UPDATE`,
    /** Of that transaction. */
    answer: `
      WITH given AS (
        INSERT INTO ${answers} (task, wire, value)
        SELECT $1, wire, value FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS a (wire, value, n) ORDER BY n
        ON CONFLICT DO NOTHING RETURNING task)
      UPDATE ${tasks} SET updated = ${TOUCHED}, due = CASE WHEN $4::boolean THEN ${NOW} ELSE due END
      WHERE id IN (SELECT task FROM given)`,
    addJob: `SELECT ${addJob('$1::text', NOW)}`,

    cancel: `
      WITH asked AS (
        UPDATE ${tasks} SET cancelled = true, updated = ${TOUCHED},
          state = CASE WHEN ${FREE} THEN 'cancelled' ELSE state END,
          parked = CASE WHEN ${FREE} THEN NULL ELSE parked END,
          wires = CASE WHEN ${FREE} THEN '{}' ELSE wires END,
          lapses = CASE WHEN ${FREE} THEN NULL ELSE lapses END,
          due = NULL
        WHERE id = $1 AND ${LIVE} AND NOT cancelled RETURNING id, state),
      ended AS (SELECT id FROM asked WHERE state = 'cancelled'),
      ${dropped(sql, 'ended')}
      SELECT FROM asked`,

    /** Whether a job has anything to do: it may be a left-over. */
    isDue: `SELECT FROM ${tasks} WHERE id = $1 AND ${LIVE} AND NOT cancelled AND ${FREE} AND (due <= ${NOW} OR lapses IS NOT NULL)`,
    claim: `
      UPDATE ${tasks} SET fence = fence + 1, runs = runs + 1, lapses = ${after('$2')}, due = NULL
      WHERE id = $1 AND ${LIVE} AND NOT cancelled AND ${FREE}
      RETURNING id, fence, head, parked, runs, ${ms('expires')} AS "expiresAt"`,
    /* After the claim was committed: what was appended or answered while it waited for the row is in it. */
    content: `
      SELECT ARRAY(SELECT chunk FROM ${journal} WHERE task = $1 ORDER BY seq) AS journal,
        ARRAY(SELECT wire FROM ${answers} WHERE task = $1 ORDER BY seq) AS wires,
        ARRAY(SELECT value FROM ${answers} WHERE task = $1 ORDER BY seq) AS values`,

    /* Written only when a third of the lease is used up, or it is to be shorter: mostly this looks at a few rows. */
    extend: `
      WITH asked AS (SELECT * FROM unnest($1::text[], $2::integer[], $3::float8[]) AS a (id, fence, lease)),
      held AS (
        SELECT id, a.fence, cancelled, lease, ${NOW} + lease * interval '1 millisecond' AS next
        FROM asked AS a JOIN ${tasks} AS t USING (id)
        WHERE t.fence = a.fence AND lapses IS NOT NULL AND ${LIVE} AND NOT ${GIVEN_UP}),
      extended AS (
        UPDATE ${tasks} AS t SET lapses = held.next FROM held
        WHERE t.id = held.id AND t.fence = held.fence AND t.lapses IS NOT NULL AND t.state = 'active' AND NOT t.cancelled
          AND t.lapses NOT BETWEEN held.next - held.lease / 3 * interval '1 millisecond' AND held.next)
      SELECT id, fence, cancelled FROM held`,

    append: `
      WITH held AS (UPDATE ${tasks} SET chunks = chunks + 1, runs = 0 WHERE ${WRITABLE} RETURNING id, chunks)
      INSERT INTO ${journal} (task, seq, chunk) SELECT id, chunks, $3 FROM held`,
    note: `UPDATE ${tasks} SET note = $3, updated = ${TOUCHED} WHERE ${WRITABLE}`,

    /** Of a transaction: writes and thereby locks the row. */
    park: `
      UPDATE ${tasks} SET parked = $3, wires = $4, lapses = NULL, runs = 0, chunks = chunks + 1, updated = ${TOUCHED},
        due = ${time('$5')}
      WHERE ${WRITABLE} RETURNING chunks`,
    /** Of that transaction. */
    rewrite: `
      WITH old AS (DELETE FROM ${journal} WHERE task = $1 AND seq < $2)
      INSERT INTO ${journal} (task, seq, chunk) VALUES ($1, $2, $3)`,
    /** Of that transaction, last: an answer that came during the run makes the task due (T4). */
    settle: `
      WITH gone AS (DELETE FROM ${answers} WHERE task = $1 AND NOT wire = ANY ($2::text[])),
      waiting AS (
        UPDATE ${tasks} AS t SET due = CASE
          WHEN EXISTS (SELECT FROM ${answers} AS a WHERE a.task = $1 AND a.wire = ANY ($2::text[])) THEN ${NOW} ELSE due END
        WHERE id = $1 RETURNING id, due)
      SELECT ${addJob('id', 'due')} FROM waiting WHERE due IS NOT NULL`,

    finish: `
      WITH ended AS (
        UPDATE ${tasks} SET state = $3, outcome = $4, updated = ${TOUCHED}, ${EMPTIED} WHERE ${HELD} RETURNING id),
      ${dropped(sql, 'ended')}
      SELECT FROM ended`,
    release: `
      WITH given AS (
        UPDATE ${tasks} SET runs = greatest(runs - 1, 0), lapses = CASE WHEN cancelled THEN ${NOW} END,
          due = CASE WHEN cancelled THEN NULL
            WHEN EXISTS (SELECT FROM ${answers} WHERE task = $1) THEN least(${time('$3')}, ${after(String(SOON))})
            ELSE ${time('$3')} END
        WHERE ${HELD} RETURNING id, due),
      job AS (SELECT ${addJob('id', 'due')} FROM given WHERE due IS NOT NULL)
      SELECT (SELECT count(*) FROM job) AS jobs FROM given`,
    /** A run that failed before it had a claim is tried again. */
    retry: `
      WITH failed AS (
        UPDATE ${tasks} SET due = ${after('$2')}
        WHERE id = $1 AND ${LIVE} AND NOT cancelled AND lapses IS NULL AND due IS NOT NULL RETURNING id, due)
      SELECT ${addJob('id', 'due')} FROM failed`,

    /** What a worker needs to be there. */
    isMigrated: `SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS "isMigrated"`,
  };
}

/** Statements of the sweep: what was left behind by workers that died, and what has expired. */
export function sweepStatementsOf(sql: Sql) {
  const { tasks, workers, jobs, queue, identifier, keyOf, addJob } = sql;
  return {
    /** Gives lapsed claims back (T3), or ends them where they were cancelled (T5). */
    lapsed: `
      WITH lapsed AS (
        SELECT id FROM ${tasks} WHERE lapses <= ${NOW} AND state = 'active' ORDER BY lapses LIMIT $1
        FOR UPDATE SKIP LOCKED),
      given AS (
        UPDATE ${tasks} AS t SET lapses = NULL, due = CASE WHEN NOT cancelled THEN ${NOW} END,
          state = CASE WHEN cancelled THEN 'cancelled' ELSE state END,
          parked = CASE WHEN NOT cancelled THEN parked END,
          wires = CASE WHEN cancelled THEN '{}' ELSE wires END
        FROM lapsed WHERE t.id = lapsed.id RETURNING t.id, due),
      ended AS (SELECT id FROM given WHERE due IS NULL),
      ${dropped(sql, 'ended')}
      SELECT id, CASE WHEN due IS NOT NULL THEN ${addJob('id', 'due')} END FROM given`,
    /**
     * A task that is due for $2 ms and that no worker can find: its job was lost, given up by graphile-worker, put off
     * for long, or is locked by a process that died before it claimed the task: one that lives claims at once.
     */
    orphaned: `
      WITH late AS (
        SELECT id FROM ${tasks} WHERE due <= ${NOW} - $2::float8 * interval '1 millisecond' AND lapses IS NULL
          AND ${LIVE} ORDER BY due LIMIT $1),
      orphaned AS (
        SELECT id FROM ${tasks} AS t WHERE id IN (SELECT id FROM late) AND NOT EXISTS (
          SELECT FROM ${jobs} AS j WHERE j.key = ${keyOf('t.id')} AND j.attempts < j.max_attempts
            AND j.run_at <= ${NOW} + interval '30 seconds'
            AND (j.locked_at IS NULL OR j.locked_at > ${NOW} - $2::float8 * interval '1 millisecond'))
        FOR UPDATE SKIP LOCKED)
      SELECT id, ${addJob('id', NOW)} FROM orphaned`,
    /** The next moment at which a claim lapses, in ms from now. */
    nextLapse: `
      SELECT (extract(epoch FROM min(lapses) - ${NOW}) * 1000)::float8 AS left FROM ${tasks} WHERE lapses IS NOT NULL`,

    /** Ends what nobody claims any more; the mark stays (T6). */
    expired: `
      WITH expired AS (
        SELECT id FROM ${tasks} WHERE expires <= ${NOW} AND head IS NOT NULL ORDER BY expires LIMIT $1
        FOR UPDATE SKIP LOCKED),
      ${dropped(sql, 'expired')}
      UPDATE ${tasks} AS t SET head = NULL, principal = '', note = NULL, outcome = NULL, ${EMPTIED}
      FROM expired WHERE t.id = expired.id`,
    marks: `
      DELETE FROM ${tasks} WHERE id = ANY (ARRAY(
        SELECT id FROM ${tasks} WHERE mark_until <= ${NOW} ORDER BY mark_until LIMIT $1 FOR UPDATE SKIP LOCKED))`,

    seen: `
      INSERT INTO ${workers} (pool, seen) VALUES ($1, ${NOW}) ON CONFLICT (pool) DO UPDATE SET seen = excluded.seen`,
    gone: `DELETE FROM ${workers} WHERE pool = $1`,
    /**
     * Undoes the locks of workers that were not seen for $1 ms. One that lives after all does no harm: its claims
     * lapsed too, and a job that it removes when it ends is found missing by `orphaned`.
     */
    dead: `
      WITH dead AS (DELETE FROM ${workers} WHERE seen <= ${NOW} - $1::float8 * interval '1 millisecond' RETURNING pool)
      SELECT ${queue}.force_unlock_workers(array_agg(pool)) FROM dead HAVING count(*) > 0`,
    /** Jobs that are over: their task got another one while they were locked by a worker that died. */
    leftovers: `
      SELECT count(*) FROM ${queue}.complete_jobs(ARRAY(
        SELECT id FROM ${jobs} WHERE task_identifier = '${identifier}' AND locked_at IS NULL
          AND attempts >= max_attempts LIMIT $1))`,
  };
}
