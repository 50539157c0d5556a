import type { Command } from 'commander';
import type { Pool } from 'pg';
import { variableName } from '../hide-secrets.js';
import { WrongUse } from '../outcome.js';

/** What `parley ledger migrate` needs of its surroundings. */
export interface LedgerMigrateIo {
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout. */
  readonly out: (text: string) => void;
  /** Loads `pg` and `mcp-parley/ledger/postgres`, which nothing else needs. Rejects when `pg` is not installed. */
  readonly loadPostgres: () => Promise<PostgresTools>;
  /** The SQL that makes the table; `ledgerSql` of `mcp-parley/ledger/postgres`. */
  readonly ledgerSql: (options: { readonly table?: string }) => Promise<string>;
}

/** What makes the table. */
export interface PostgresTools {
  /** Makes a pool of at most one connection, to be ended by whoever asked. */
  readonly connect: (url: string) => Pick<Pool, 'end'>;
  /** `migrateLedger` of `mcp-parley/ledger/postgres`. */
  readonly migrate: (pool: Pick<Pool, 'end'>, options: { readonly table?: string }) => Promise<void>;
}

/** Options of `parley ledger migrate`. */
export interface LedgerMigrateOptions {
  /** Name of the environment variable that holds the connection string. */
  readonly urlEnv: string;
  /** Whether the SQL is printed instead of run. */
  readonly print: boolean;
  readonly table?: string;
}

/**
 * Makes the table of a Postgres ledger, or prints the SQL for it. The connection string comes from the environment
 * only: arguments are seen by everybody on the machine, and stay in the shell's history.
 *
 * @throws WrongUse when the variable is not set; what the database says when it refuses.
 */
export async function ledgerMigrate(options: LedgerMigrateOptions, io: LedgerMigrateIo): Promise<void> {
  const { urlEnv, print, table } = options;
  const named = table === undefined ? {} : { table };
  if (print) {
    io.out(await io.ledgerSql(named));
    return;
  }
  const url = io.env[urlEnv];
  if (url === undefined || url === '') {
    throw new WrongUse(
      `${variableName(urlEnv)} is not set. Set it to the connection string of the database, or print the SQL with --print.`,
    );
  }
  await io.ledgerSql(named); // a name that cannot be used is said before anything is connected
  const { connect, migrate } = await io.loadPostgres();
  const pool = connect(url);
  try {
    await migrate(pool, named);
  } finally {
    await pool.end();
  }
  io.out(`The table ${table ?? 'parley_ledger'} is there.\n`);
}

/** Adds `parley ledger migrate`. */
export function addLedgerMigrate(parley: Command, io: LedgerMigrateIo): void {
  parley
    .command('ledger')
    .description('the store that makes things happen at most once')
    .command('migrate')
    .description(
      'make the table of a Postgres ledger. May be run again: it changes nothing that is there.\n' +
        'The connection string is taken from the environment, never from an argument.',
    )
    .option('--url-env <name>', 'environment variable that holds the connection string', 'DATABASE_URL')
    .option('--table <name>', 'name of the table, or schema.name (default: parley_ledger)')
    .option('--print', 'write the SQL to stdout instead of running it', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ parley ledger migrate\n  $ parley ledger migrate --url-env LEDGER_URL\n' +
        '  $ parley ledger migrate --print > migrations/0042-parley-ledger.sql',
    )
    .action(async (options: LedgerMigrateOptions) => {
      await ledgerMigrate(options, io);
    });
}
