import { expect } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type { AgentOptions, RunInput, RunOutcome } from '../../src/index.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptedModel, SimulatedClock } from '../../src/testing/index.ts';
import { comparable, expectSound, observed, play, summaryOf, ways } from './survival-stage.ts';
import type { Played, Summary, Way } from './survival-stage.ts';

// Scenarios that no server can produce, or that are about time: a scripted model under the simulated clock.

/** What one way of playing came to. */
export interface Scripted extends Played {
  readonly way: Way;
  readonly summary: Summary;
  readonly model: ScriptedModel;
  readonly clock: SimulatedClock;
  /** What tools wrote down. */
  readonly reached: readonly string[];
  /** Simulated. */
  readonly elapsedMs: number;
}

/** What a scenario is made of, made anew for every way. */
export interface Scene extends Omit<Partial<AgentOptions>, 'model' | 'output'> {
  readonly script: Parameters<typeof scriptedModel>[0];
  readonly modelOptions?: Parameters<typeof scriptedModel>[1];
  readonly input?: RunInput;
  readonly signal?: AbortSignal;
  readonly output?: unknown;
}

/** What a scene is handed to be made with. */
export interface Props {
  readonly clock: SimulatedClock;
  readonly reached: (what: string) => void;
}

/** Plays a scene in every way, checks what holds for all runs, and that all of them come to the same. */
export async function playScene(make: (props: Props) => Scene): Promise<readonly Scripted[]> {
  const ends: Scripted[] = [];
  for (const way of ways) ends.push(await playOnce(make, way));
  const outcomes = ends.map(({ outcome }) => comparable(outcome));
  expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));
  expect(ends.map(({ summary }) => summary)).toEqual(ends.map(() => ends[0]?.summary));
  return ends;
}

async function playOnce(make: (props: Props) => Scene, way: Way): Promise<Scripted> {
  const clock = simulatedClock();
  const reached: string[] = [];
  const scene = make({ clock, reached: (what) => void reached.push(what) });
  const { script, modelOptions, input = 'Tell me.', signal, ...options } = scene;
  const model = scriptedModel(script, modelOptions);
  const agent = createAgent({
    ...(options as object), // The output is of any schema, and so is the agent.
    model,
    clock,
    random: seededRandom(7),
    gates: createGates({ clock }),
  });
  const startMs = clock.monotonicMs();
  const played = await observed(() =>
    clock.runUntil(play(agent, { way, input, ...(signal === undefined ? {} : { signal }) })),
  );
  expectSound(played);
  const elapsedMs = clock.monotonicMs() - startMs;
  return {
    ...played,
    way,
    summary: summaryOf(played.outcome, model.calls.length),
    model,
    clock,
    reached,
    elapsedMs,
  };
}

/** The results of tools in a conversation, in order. */
export function toolResults({ messages }: RunOutcome): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ content }) => JSON.stringify(content)) : [],
  );
}
