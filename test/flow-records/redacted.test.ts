import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { exportRun } from '../../src/runtime/transfer/export-run.ts';
import { importRun } from '../../src/runtime/transfer/import-run.ts';
import { createFlowWorld, onRecord, payOnce, stepsOf } from './world.ts';
import type { FlowWorld } from './world.ts';

const key = ['sk', 'proj', 'Zx81kQ0vB7mW4nT2rY9cL5dH3jF6gS1a'].join('-');

const said = [
  { what: 'a key in a sentence', text: `Use ${key} for it.` },
  { what: 'a password in quotes', text: 'password="hunter2-hunter2-hunter2", then go on' },
  { what: 'a password as JSON', text: '{"password":"hunter2-hunter2-hunter2","next":"go on"}' },
  { what: 'a header', text: `Authorization: Bearer ${key}` },
  { what: 'an address with a password', text: 'https://user:hunter2hunter2@example.com/path' },
  { what: 'a private key', text: '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----' },
];

function secretive(world: FlowWorld, text: string): Agent<unknown> {
  const agents = {
    read_secret: world.agent('reader', [text]),
    settle: world.agent('payer', [payOnce, payOnce], [world.pay]),
    tell: world.agent('writer', ['All is paid.']),
  };
  return flow('read_secret >> settle >> tell', { name: 'bill', agents, ...world.common() });
}

describe('a bundle of a flow whose nodes said secrets', () => {
  it.each(said)('has none of them, replays, and goes on: $what', async ({ text }) => {
    const world = createFlowWorld();
    const outcome = await world.until(secretive(world, text).run('Go', { runId: 'run-1' }));
    expect(outcome.type).toBe('suspended');
    const bundle = await exportRun(world.store, 'run-1');
    expect(bundle).not.toMatch(/hunter2|Zx81kQ0v|MIIabc/);
    const replayed = (await stepsOf({ bundle })).at(-1)?.outcome;
    expect(replayed).toMatchObject({ type: 'suspended', usage: outcome.usage });
    expect(onRecord(replayed)).toBeDefined();
    await importRun(world.store, bundle, { as: 'copy' });
    const gone = await world.until(secretive(world, text).resume('copy', { answer: true }));
    expect(gone).toMatchObject({ type: 'completed', text: 'All is paid.' });
  });
});
