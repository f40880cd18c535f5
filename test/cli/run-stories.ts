import { expect, vi } from 'vitest';
import { createAgent, createFailure, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, Failure, Model, Store, Tool } from '../../src/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { scriptedModel, seededRandom } from '../../src/testing/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import type { Clock } from '../../src/base/clock.ts';

/** The agent of the command line itself, as it names it for a folder. */
const ours = 'rerail:shop-1f0c77ae';

// Real runs in a real file, under a clock that only waits between attempts move: what somebody finds there the next morning.

/** When the first of them begins: 3 a.m. */
export const startMs = Date.UTC(2026, 0, 31, 3);
/** Looks like a key, and must never be shown. */
export const secret = ['sk', 'proj', 'Zx81kQ0vB7mW4nT2rY9cL5dH3jF6gS1a'].join('-');

export interface Stories {
  readonly file: string;
  readonly clock: StoryClock;
  /** An agent of this workspace with these answers of its model, or models. */
  readonly agent: (
    script: readonly ScriptStep[] | readonly Model[],
    options?: StoryOptions,
  ) => Agent<unknown>;
  readonly close: () => Promise<void>;
}

export interface StoryClock extends Clock {
  readonly move: (ms: number) => void;
}

/** Files take real time, so time here stands still for everything but the waits between attempts, which pass at once. */
function storyClock(): StoryClock {
  let nowMs = 0;
  return {
    wallMs: () => startMs + nowMs,
    monotonicMs: () => nowMs,
    after: (delayMs, callback) => {
      const isBetweenAttempts = delayMs < 3000 || (delayMs >= 20_000 && delayMs < 25_000);
      if (!isBetweenAttempts) return () => undefined;
      const dueMs = nowMs + delayMs;
      const timer = setTimeout(() => {
        nowMs = Math.max(nowMs, dueMs);
        callback();
      }, 1);
      return () => clearTimeout(timer);
    },
    move: (ms) => {
      nowMs += ms;
    },
  };
}

export type StoryOptions = Partial<Omit<AgentOptions, 'model' | 'output'>>;

export function openStories(file: string): Stories {
  const clock = storyClock();
  const stores: Store[] = [];
  return {
    file,
    clock,
    agent: (script, options = {}) => {
      const store = sqlite(file, { sync: 'normal', clock });
      stores.push(store);
      return createAgent({
        name: ours,
        instructions: 'You run a shop.',
        tools: [look(), pay()],
        random: seededRandom(7),
        gates: createGates({ clock }),
        clock,
        store,
        ...options,
        model: script.every(isModel) ? script : model(script),
      });
    },
    close: async () => {
      for (const store of stores) await store.close();
    },
  };
}

function isModel(step: ScriptStep | Model): step is Model {
  return typeof step === 'object' && 'call' in step;
}

function model(script: readonly ScriptStep[], name = 'one'): Model {
  return scriptedModel(script, {
    provider: name,
    name: `${name}-large`,
    usage: { inputTokens: 10, outputTokens: 5 },
  });
}

export function look(execute: () => unknown = () => 'found'): Tool {
  return tool({
    name: 'look',
    description: 'Looks something up.',
    input: { type: 'object' },
    effect: 'read',
    execute,
  });
}

export function pay(execute: () => unknown = () => 'paid'): Tool {
  return tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object' },
    effect: 'once',
    permission: 'ask',
    execute,
  });
}

/** A tool that never comes back: whoever called it can only die. */
export function hang(): Tool {
  return tool({
    name: 'hang',
    description: 'Never ends.',
    input: { type: 'object' },
    effect: 'once',
    timeoutMs: 86_400_000,
    execute: () => new Promise(() => undefined),
  });
}

export const call = (name: string, input: object = { cents: 5 }): ScriptStep => ({
  toolCalls: [{ name, arguments: input as never }],
});

/** Every kind of ending that somebody may find, one run for each; the name says which. */
export async function tellStories(file: string): Promise<void> {
  const stories = openStories(file);
  const { agent, clock } = stories;
  const tell = async (runId: string, told: Agent<unknown>, input: string): Promise<void> => {
    await told.run(input, { runId });
    clock.move(60_000);
  };
  await tell('retried', agent([{ failure: 'OVERLOADED' }, 'Done.']), `Say it. ${secret}`);
  const chain = [model([{ failure: 'QUOTA_EXCEEDED' }]), model(['From two.'], 'two')];
  await tell('fallen-back', agent(chain), 'Ask');
  await tell('asked-wait', agent([{ failure: wait(20_000) }, 'Done.']), 'Ask');
  await tell('to-approve', agent([call('pay')]), 'Pay 5 cents');
  await tell('failed', agent([{ failure: 'SERVER_ERROR' }], { policy: { retry: 'none' } }), 'Ask');
  const bounded: StoryOptions = { limits: { maxTurns: 1 }, policy: { salvage: false } };
  await tell('stopped', agent([call('look')], bounded), 'Look');
  await tell('no-key', agent([{ failure: 'AUTHENTICATION_ERROR' }]), 'Ask');
  await tell('long-wait', agent([{ failure: wait(7_200_000) }]), 'Ask');
  await abandon(stories, 'interrupted');
  await abandon(stories, 'in-doubt');
  clock.move(3_600_000);
  await agent(['Done.'], { tools: [hang()] }).resume('in-doubt');
  await stories.close();
}

/** Begins a run whose process is as good as dead: its tool never comes back, and its lease is not renewed. */
export async function abandon({ agent, file }: Stories, runId: string): Promise<void> {
  void agent([call('hang')], { tools: [hang()] }).run('Hang', { runId });
  const store = sqlite(file);
  await vi.waitFor(async () => {
    const events = await store.runs.events(runId);
    expect(events.some(({ body }) => JSON.stringify(body).includes('"effect":"intend"'))).toBe(true);
  });
  await store.close();
}

function wait(retryAfterMs: number): Failure {
  return createFailure('RATE_LIMITED', {
    origin: 'model',
    message: 'Slow down',
    retryAfterMs,
    provider: { provider: 'one', model: 'one-large' },
  });
}
