/**
 * `npx tsx examples/distributed-client/main.ts`: a call that one process begins and another one answers, on a later
 * day, with what can go wrong between them. Exits with 0 only if all went as it should.
 */
import { Report } from '../demo/report.js';
import { endAll } from './processes.js';
import { Stage } from './stage.js';
import { tell } from './story.js';

/** Longest the story may take, in ms. It takes about ten seconds. */
const PATIENCE_MS = 120_000;

setTimeout(() => {
  console.error(`Not done after ${PATIENCE_MS / 1000} seconds.`);
  process.exit(1);
}, PATIENCE_MS).unref();
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
// Whoever reads the output has gone, for example `head`.
process.stdout.once('error', () => process.exit(1));

const report = new Report();
try {
  await tell(await Stage.open(), report);
} catch (error) {
  report.expect(false, `The story broke off: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  endAll();
}
report.verdict();
process.exitCode = report.failed.length === 0 ? 0 : 1;
