import { describe, expect, it } from 'vitest';
import { tool } from '../../src/index.ts';
import type { RunOutcome } from '../../src/index.ts';
import { createFailure } from '../../src/errors/index.ts';
import type { Json } from '../../src/errors/index.ts';
import type { ToolEffect } from '../../src/model/tool.ts';
import { createAgentEffects } from '../../src/runtime/agent-effects.ts';
import { resolveAgent } from '../../src/runtime/agent-options.ts';
import { drive } from '../../src/runtime/drive.ts';
import type { Durable, Outcome } from '../../src/runtime/record/durable.ts';
import { createLiveRun } from '../../src/runtime/run/live-run.ts';
import { scriptedModel } from '../../src/testing/index.ts';

// What an engine is asked whose runs outlive the process: a call that must not happen twice is written down before it is made.

interface Carried {
  readonly steps: readonly string[];
  readonly executions: number;
  readonly outcome: RunOutcome | undefined;
}

/** Carries one run, as an engine would that remembers; `change` stands between it and the world. */
async function carry(
  effect: ToolEffect,
  change: (name: string, input: Json, perform: (given: Json) => Promise<Outcome>) => Promise<Outcome>,
): Promise<Carried> {
  let executions = 0;
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: {} },
    effect,
    execute: () => {
      executions += 1;
      return 'paid';
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay' }] }, 'Paid.']);
  const parts = resolveAgent(
    { model, tools: [pay] },
    { onHookFailed: () => undefined, canRead: () => false },
  );
  const live = createLiveRun('run', 8);
  const effects = createAgentEffects(parts, { liveOf: () => live, onBackground: () => undefined });
  const steps: string[] = [];
  const durable: Durable = {
    runId: 'run',
    generation: 0,
    call: (name, input) => {
      steps.push(name);
      const context = {
        runId: 'run',
        position: steps.length,
        signal: new AbortController().signal,
        pending: () => [],
      };
      const work = effects[name];
      if (work === undefined) throw new Error(`There is no effect "${name}"`);
      return change(name, input, async (given) => work(given, context));
    },
    sleep: () => Promise.resolve(),
    waitFor: (_signal, options) => {
      options?.onWaiting?.();
      return new Promise(() => undefined);
    },
    restart: () => {
      throw new Error('Not in so short a run');
    },
  };
  let outcome: RunOutcome | undefined;
  const ended = new Promise<void>((resolve) => {
    const onOutcome = (_live: unknown, end: RunOutcome): void => {
      outcome = end;
      resolve();
    };
    const input = { type: 'start', messages: [{ role: 'user', content: 'Pay' }], repairs: [] } as const;
    void drive({ parts, live, onOutcome }, durable, input);
  });
  await ended;
  return { steps, executions, outcome };
}

describe('an engine whose runs outlive the process', () => {
  it('does not make a call that it could not write down', async () => {
    const failure = createFailure('STORAGE_FULL', { message: 'No space left' });
    const carried = await carry('once', (name, input, perform) =>
      name === 'intend' ? Promise.resolve({ type: 'failed', failure }) : perform(input),
    );
    expect(carried).toMatchObject({
      executions: 0,
      outcome: { type: 'failed', failure: { code: 'STORAGE_FULL' } },
    });
  });

  it('does not make a call twice for one intent: the second copy is in doubt', async () => {
    const carried = await carry('once', async (name, input, perform) => {
      if (name === 'tool') await perform(input);
      return perform(input);
    });
    expect(carried).toMatchObject({ executions: 1, outcome: { type: 'suspended', reason: 'in-doubt' } });
  });

  it.each([
    { effect: 'once', steps: ['model', 'intend', 'tool', 'model'] },
    { effect: 'idempotent', steps: ['model', 'tool', 'model'] },
    { effect: 'read', steps: ['model', 'tool', 'model'] },
  ] as const)('writes as much as the effect "$effect" needs', async ({ effect, steps }) => {
    const carried = await carry(effect, (_name, input, perform) => perform(input));
    expect(carried).toMatchObject({ steps, executions: 1, outcome: { type: 'completed', text: 'Paid.' } });
  });
});
