import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { Agent, RunOutcome } from '../../src/index.ts';
import { flow } from '../../src/flow/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const runId = 'run-1';

type Leave = (agent: Agent<unknown>) => Promise<RunOutcome>;

describe('a caller that leaves a stored run that waits for a person', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  const aborted = AbortSignal.abort();
  const leaving: Readonly<Record<string, Leave>> = {
    'by its signal': (agent) => agent.run('Pay.', { runId, signal: aborted }),
    'by a signal that comes later': (agent) => {
      const controller = new AbortController();
      const outcome = agent.run('Pay.', { runId, signal: controller.signal });
      controller.abort();
      return outcome;
    },
    'by ask': (agent) =>
      agent.ask('Pay.', { runId, signal: aborted }).then(() => agent.run('Pay.', { runId })),
    'by breaking off its stream': async (agent) => {
      const stream = agent.stream('Pay.', { runId });
      for await (const { type } of stream) if (type !== 'run-finished') break;
      return stream.outcome;
    },
    'by never reading its stream': async (agent) => {
      const stream = agent.stream('Pay.', { runId });
      await stream[Symbol.asyncIterator]().return?.();
      return stream.outcome;
    },
  };
  const cases = Object.keys(leaving).flatMap((way) => ['agent', 'flow'].map((kind) => ({ way, kind })));

  it.each(cases)('does not cancel it: $way ($kind)', async ({ way, kind }) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'rerail-sharing-'));
    folders.push(folder);
    const done: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: {} },
      permission: 'ask',
      execute: () => void done.push('paid'),
    });
    const store = sqlite(path.join(folder, 'runs.db'));
    const model = scriptedModel([{ text: 'Paying.', toolCalls: [{ name: 'pay', arguments: {} }] }, 'Done.']);
    const part = { name: 'clerk', model, tools: [pay] };
    const agent: Agent<unknown> =
      kind === 'agent'
        ? createAgent({ ...part, store })
        : flow('clerk', { agents: { clerk: createAgent(part) }, store });
    expect(await agent.run('Pay.', { runId })).toMatchObject({ type: 'suspended' });
    await (leaving[way] as Leave)(agent).catch(() => undefined); // It may be told that it has left.
    expect(await agent.run('Pay.', { runId })).toMatchObject({ type: 'suspended', reason: 'approval' });
    expect(await agent.resume(runId, { answer: true })).toMatchObject({ type: 'completed', text: 'Done.' });
    expect(done).toEqual(['paid']);
    await agent.close();
    await store.close();
  });
});
