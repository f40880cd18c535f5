import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../src/index.ts';
import { exportRun } from '../src/runtime/transfer/export-run.ts';
import { importRun } from '../src/runtime/transfer/import-run.ts';
import { replayRun } from '../src/runtime/transfer/replay-run.ts';
import { memoryStore } from '../src/testing/memory-store.ts';
import { flowScenarios } from './golden/flow-scenarios.ts';
import { scenarios as singleScenarios } from './golden/scenarios.ts';

// Golden journals: runs that were recorded once, as their store and their caller had them. Whatever changes in this program, each
// must replay to the outcome that it had: somebody's runs of yesterday are resumed by the program of tomorrow.
//
// A change that breaks one of them breaks runs that are waiting on disks. Then:
// - Make the machine and the driver read what was recorded: a new field is optional, a new step is told apart from its absence
//   (see `AgentFacts.driver`), a step that is gone is still answered from the journal.
// - Where that cannot be, the version of the driver must change (`driverVersion`), with a page in `docs/decisions/` and a word to
//   the users; the journals of the old version then stay here with what the program says to them.
// - Never record one anew to make the gate pass, and never edit one.
//
// To add one: write it into `golden/scenarios.ts`, then `RECORD_GOLDEN=1 npx vitest run test/golden.test.ts`. What is there already
// is not touched.

const folder = fileURLToPath(new URL('golden/', import.meta.url));
const isRecording = process.env['RECORD_GOLDEN'] === '1';
const recorded = readdirSync(folder)
  .filter((file) => file.endsWith('.bundle.json'))
  .map((file) => ({ name: file.slice(0, -'.bundle.json'.length) }));

const bundleFile = (name: string): string => `${folder}${name}.bundle.json`;
const outcomeFile = (name: string): string => `${folder}${name}.outcome.json`;

const scenarios = [...singleScenarios, ...flowScenarios];
const missing = scenarios.filter(({ name }) => !existsSync(bundleFile(name)));

describe.runIf(isRecording && missing.length > 0)('recording', () => {
  it.each(missing)('writes $name down, once and for all', async ({ name, live }) => {
    const { store, runId, outcome } = await live();
    const bundle = await exportRun(store, runId);
    expect(await replayed(bundle)).toEqual(outcome);
    writeFileSync(bundleFile(name), bundle, { flag: 'wx' });
    writeFileSync(outcomeFile(name), `${JSON.stringify(outcome)}\n`, { flag: 'wx' });
  });
});

describe('a golden journal', () => {
  it.skipIf(isRecording)('is there for every scenario', () => {
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it.each(recorded)('replays to the outcome that it had: $name', async ({ name }) => {
    const outcome = JSON.parse(readFileSync(outcomeFile(name), 'utf8')) as RunOutcome; // Written above.
    expect(await replayed(readFileSync(bundleFile(name), 'utf8'))).toEqual(outcome);
  });
});

describe('a golden journal with runs below it', () => {
  it.each(flowScenarios)('has them all, and each replays to an outcome: $name', async ({ name }) => {
    const store = memoryStore();
    const { runId, children } = await importRun(store, readFileSync(bundleFile(name), 'utf8'));
    const { runs } = await store.runs.list({ below: runId });
    expect(runs.length).toBe(children);
    expect(children).toBeGreaterThan(1);
    for (const row of runs) expect(await replayed(await exportRun(store, row.runId))).toBeDefined();
  });
});

async function replayed(bundle: string): Promise<RunOutcome | undefined> {
  let outcome: RunOutcome | undefined;
  for await (const step of replayRun({ bundle })) ({ outcome } = step);
  return outcome;
}
