import { describe, expect, it } from 'vitest';
import type { PostgresTools } from '../src/commands/ledger-migrate.js';
import { parley } from './parley.js';

describe('parley', () => {
  it('prints its version', async () => {
    expect(await parley(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });

  it('prints help with the commands and an example', async () => {
    const { code, out, err } = await parley(['--help']);
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out).toContain('keygen');
    expect(out).toContain('$ export PARLEY_KEYS="$(parley keygen)"');
  });

  it('prints help for a command, with an example', async () => {
    for (const command of ['call', 'prompt', 'read', 'tools', 'resume', 'inspect', 'keygen']) {
      for (const args of [
        [command, '--help'],
        ['help', command],
      ]) {
        const { code, out } = await parley(args);
        expect(code).toBe(0);
        expect(out).toContain(`$ parley ${command}`);
      }
    }
  });

  it('documents the exit codes where calls are made', async () => {
    for (const command of ['call', 'prompt', 'read', 'resume']) {
      const { out } = await parley([command, '--help']);
      for (const code of [0, 1, 2, 3, 4, 5, 130]) expect(out).toMatch(new RegExp(`^ +${code} `, 'm'));
    }
  });

  it.each([
    [['keygan'], /unknown command 'keygan'[^]*Did you mean keygen/],
    [['keygen', '--cuont', '2'], /unknown option '--cuont'/],
    [['keygen', 'extra'], /too many arguments/],
    [['keygen', '--count'], /argument missing/],
    [['keygen', '--count', '0'], /whole number from 1 to 1000/],
    [['keygen', '--count', '-1'], /whole number|argument missing|unknown option/],
    [['keygen', '--count', '1e3'], /whole number/],
    [['keygen', '--count', '1001'], /whole number/],
    [['ledger', 'migrat'], /unknown command 'migrat'[^]*Did you mean migrate/],
    [['ledger', 'migrate', 'postgres://user:secret@host/db'], /too many arguments/],
    [['ledger', 'migrate', '--url', 'x'], /unknown option '--url'/],
  ])('%j ends with code 2, an error on stderr, and no key', async (args, message) => {
    const { code, out, err } = await parley(args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err).toContain('parley --help');
    expect(out).toBe('');
  });

  it.each([
    [[`parley1.${'A'.repeat(107)}`]],
    [['ledger', `parley1.${'A'.repeat(107)}`]],
    [['keygen', `--key=parley_key_${'A'.repeat(43)}`]],
    [['call', '--output', `parley_key_${'A'.repeat(43)}`]],
    [['ledger', 'migrate', '--url-env', 'postgres://user:AAAA@host/db']],
    [['call', 'https://host/mcp', 'deploy', `parley1.${'A'.repeat(107)}`]],
  ])('%j: what may be a secret in the wrong place is not repeated', async (args) => {
    const { code, out, err } = await parley(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toContain('AAAA');
  });

  it('without a command prints help on stderr and ends with code 2', async () => {
    const { code, out, err } = await parley([]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: parley');
  });

  it('a failure ends with code 1 and says why', async () => {
    const generateKey = () => {
      throw new Error('no randomness');
    };
    expect(await parley(['keygen'], { generateKey })).toEqual({
      code: 1,
      out: '',
      err: 'parley: no randomness\n',
    });
  });

  describe('ledger migrate', () => {
    it('prints help with examples', async () => {
      for (const args of [
        ['ledger', 'migrate', '--help'],
        ['ledger', 'help', 'migrate'],
      ]) {
        const { code, out } = await parley(args);
        expect(code).toBe(0);
        expect(out).toContain('$ parley ledger migrate --url-env LEDGER_URL');
        expect(out).toContain('DATABASE_URL');
      }
    });

    it('prints the SQL and nothing else, without a database', async () => {
      const printed = await parley(['ledger', 'migrate', '--print']);
      expect(printed).toEqual({ code: 0, out: 'CREATE TABLE parley_ledger;\n', err: '' });
      const { out } = await parley(['ledger', 'migrate', '--print', '--table', 'app.ledger']);
      expect(out).toBe('CREATE TABLE app.ledger;\n');
    });

    it('ends with code 2 when the connection string is not set', async () => {
      for (const env of [{}, { DATABASE_URL: '' }]) {
        const { code, out, err } = await parley(['ledger', 'migrate'], { env });
        expect({ code, out }).toEqual({ code: 2, out: '' });
        expect(err).toMatch(/^parley: DATABASE_URL is not set\. [^]*--print\.\n$/);
      }
      const { err } = await parley(['ledger', 'migrate', '--url-env', 'MY_URL'], {
        env: { DATABASE_URL: 'x' },
      });
      expect(err).toMatch(/MY_URL is not set/);
    });

    it('makes the table, and ends its connection', async () => {
      const calls: unknown[] = [];
      const pool = { end: async () => void calls.push('end') };
      const loadPostgres = async (): Promise<PostgresTools> => ({
        connect: (url) => (calls.push(['connect', url]), pool),
        migrate: async (_, options) => void calls.push(['migrate', options]),
      });
      const env = { MY_URL: 'postgres://host/db' };
      const args = ['ledger', 'migrate', '--url-env', 'MY_URL', '--table', 'mine'];
      expect(await parley(args, { env, loadPostgres })).toEqual({
        code: 0,
        out: 'The table mine is there.\n',
        err: '',
      });
      expect(calls).toEqual([['connect', 'postgres://host/db'], ['migrate', { table: 'mine' }], 'end']);
    });

    it('ends with code 1 when the database refuses, and says why', async () => {
      const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}`));
      const loadPostgres = async (): Promise<PostgresTools> => ({
        connect: () => ({ end: async () => undefined }),
        migrate: () => Promise.reject(new AggregateError(refused)),
      });
      const env = { DATABASE_URL: 'postgres://user:secret@host/db' };
      const { code, out, err } = await parley(['ledger', 'migrate'], { env, loadPostgres });
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toBe('parley: connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1\n');
    });

    it('ends with code 1 when pg is not there', async () => {
      const env = { DATABASE_URL: 'postgres://host/db' };
      const { code, err } = await parley(['ledger', 'migrate'], { env });
      expect({ code, err }).toEqual({ code: 1, err: 'parley: pg is not to be loaded\n' });
    });
  });
});
