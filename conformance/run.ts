/**
 * Runs the official suite against the fixtures in this folder and prints passed of total, a line a group.
 * Exits with 0 when everything passed, 1 when not, 2 when called wrongly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Children } from './runner/children.js';
import { startFixture, type Entry } from './runner/fixture.js';
import { allPassed, group, report, type Group } from './runner/groups.js';
import { requirementsOfServers } from './runner/requirements.js';
import { judge } from './runner/results.js';
import { REVISION, runClientLeg, runServerLeg } from './runner/suite.js';

const HELP = `npm run conformance [-- --verbose]

Runs the official MCP conformance suite for revision ${REVISION} against a server
and a client that are written with this library, and prints passed of total:

  mrtr      multi round-trip requests, answered by flows
  required  all that the revision requires of a server (mrtr is part of it)
  tasks     the tasks extension, answered by flows that become tasks
  client    multi round-trip requests, seen from the client

The first three are run twice: behind the SDK's HTTP entry, createMcpHandler, and
behind the pooled one of mcp-parley/http.

  --verbose  show what the suite and the fixtures write
  --help     show this
`;

/** A run takes about 20 seconds: the suite has tasks that take seconds, and polls them. */
const DEADLINE_MS = 120_000;

/** Nothing is sent in it, whatever the server is: the suite has it for later. */
const SKIPPED_BY_SUITE = ['tasks-status-notifications'];

/** How an entry is called behind the name of a group. */
const NAMES: Readonly<Record<Entry, string>> = { sdk: '', pooled: ', pooled entry' };

const CLIENT_SCENARIO = 'sep-2322-client-request-state';

const options = readOptions();
if (options.help) {
  process.stdout.write(HELP);
  process.exit();
}

const children = new Children(options.verbose);
const folder = mkdtempSync(join(tmpdir(), 'parley-conformance-'));
process.on('exit', () => {
  children.end();
  rmSync(folder, { recursive: true, force: true });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
setTimeout(() => {
  console.error(`Not done after ${DEADLINE_MS / 1000} s; --verbose shows how far it got.`);
  process.exit(1);
}, DEADLINE_MS).unref();

try {
  // The legs have nothing to do with each other.
  const legs = [serverGroups('sdk'), serverGroups('pooled'), clientGroups()];
  const groups = (await Promise.all(legs)).flat();
  console.log(report(groups));
  process.exitCode = allPassed(groups) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  // With the fixture server gone nothing keeps this process, and what was printed gets out before it ends.
  children.end();
}

async function serverGroups(entry: Entry): Promise<Group[]> {
  const { required, tasks } = await requirementsOfServers(REVISION);
  const url = await startFixture(children, entry);
  const { results } = await runServerLeg(children, url, join(folder, `server-${entry}`));
  const mrtr = required.filter((name) => name.startsWith('input-required-result-'));
  return [
    group(`mrtr${NAMES[entry]}`, mrtr, results),
    group(`required${NAMES[entry]}`, required, results),
    group(`tasks${NAMES[entry]}`, tasks, results, SKIPPED_BY_SUITE),
  ];
}

async function clientGroups(): Promise<Group[]> {
  const { code, results } = await runClientLeg(children, CLIENT_SCENARIO, join(folder, 'client'));
  const client = group('client', [CLIENT_SCENARIO], results);
  if (code === 0 || !allPassed([client])) return [client];
  // Every check went well, but the client ended badly, which only the exit code tells.
  const problem = { id: 'exit', status: 'FAILURE', errorMessage: 'The client failed; --verbose shows why.' };
  return [
    group('client', [CLIENT_SCENARIO], new Map([[CLIENT_SCENARIO, judge(CLIENT_SCENARIO, [problem])]])),
  ];
}

function readOptions(): { readonly verbose: boolean; readonly help: boolean } {
  try {
    const { values } = parseArgs({
      options: { verbose: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    return { verbose: values.verbose ?? false, help: values.help ?? false };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : 'Called wrongly.'}\n\n${HELP}`);
    process.exit(2);
  }
}
