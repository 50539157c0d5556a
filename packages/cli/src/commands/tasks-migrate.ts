import type { Command } from 'commander';
import type { Pool } from 'pg';
import { variableName } from '../hide-secrets.js';
import { WrongUse } from '../outcome.js';

/** Where the tables of tasks stand. */
export interface TaskSchemas {
  readonly schema?: string;
  readonly workerSchema?: string;
}

/** What `parley tasks migrate` needs of its surroundings. */
export interface TasksMigrateIo {
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout. */
  readonly out: (text: string) => void;
  /** Loads `pg` and what makes the tables. Rejects when `pg` is not installed. */
  readonly loadTaskTools: () => Promise<TaskTools>;
  /** The SQL that makes the tables; `tasksSql` of `mcp-parley/tasks/postgres`. */
  readonly tasksSql: (options: TaskSchemas) => Promise<string>;
}

/** What makes the tables. */
export interface TaskTools {
  /** Makes a pool of at most one connection, to be ended by whoever asked. */
  readonly connect: (url: string) => Pick<Pool, 'end'>;
  /** `migrateTasks` of `mcp-parley/tasks/postgres`. */
  readonly migrate: (pool: Pick<Pool, 'end'>, options: TaskSchemas) => Promise<void>;
}

/** Options of `parley tasks migrate`. */
export interface TasksMigrateOptions extends TaskSchemas {
  /** Name of the environment variable that holds the connection string. */
  readonly urlEnv: string;
  /** Whether the SQL is printed instead of run. */
  readonly print: boolean;
}

/**
 * Makes the tables of tasks in Postgres, and those of graphile-worker; or prints the SQL for the first. The connection
 * string comes from the environment only, as for `ledger migrate`.
 *
 * @throws WrongUse when the variable is not set; what the database says when it refuses.
 */
export async function tasksMigrate(options: TasksMigrateOptions, io: TasksMigrateIo): Promise<void> {
  const { urlEnv, print, schema, workerSchema } = options;
  const schemas = {
    ...(schema !== undefined && { schema }),
    ...(workerSchema !== undefined && { workerSchema }),
  };
  const sql = await io.tasksSql(schemas); // a name that cannot be used is said before anything is connected
  if (print) {
    io.out(sql);
    return;
  }
  const url = io.env[urlEnv];
  if (url === undefined || url === '') {
    throw new WrongUse(
      `${variableName(urlEnv)} is not set. Set it to the connection string of the database, or print the SQL with --print.`,
    );
  }
  const { connect, migrate } = await io.loadTaskTools();
  const pool = connect(url);
  try {
    await migrate(pool, schemas);
  } finally {
    await pool.end();
  }
  io.out(`The tables of tasks are there, in the schema ${schema ?? 'parley'}.\n`);
}

/** Adds `parley tasks migrate`. */
export function addTasksMigrate(parley: Command, io: TasksMigrateIo): void {
  parley
    .command('tasks')
    .description('the store of tasks in Postgres')
    .command('migrate')
    .description(
      'make the tables of tasks, and those of graphile-worker. May be run again: it changes nothing that is there.\n' +
        'The connection string is taken from the environment, never from an argument.',
    )
    .option('--url-env <name>', 'environment variable that holds the connection string', 'DATABASE_URL')
    .option('--schema <name>', 'schema of the tables (default: parley)')
    .option('--worker-schema <name>', 'schema of graphile-worker (default: that of the tables, with _worker)')
    .option('--print', "write the SQL to stdout instead of running it, without graphile-worker's", false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ parley tasks migrate\n  $ parley tasks migrate --url-env TASKS_URL --schema app_tasks\n' +
        '  $ parley tasks migrate --print > migrations/0043-parley-tasks.sql',
    )
    .action(async (options: TasksMigrateOptions) => {
      await tasksMigrate(options, io);
    });
}
