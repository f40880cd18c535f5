import { afterEach, beforeEach, expect } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type {
  Agent,
  AgentOptions,
  Message,
  ResumeOptions,
  RunEvent,
  RunInput,
  RunOptions,
  RunOutcome,
  Tool,
} from '../../src/index.ts';
import type { Json } from '../../src/base/json.ts';
import { findHistoryProblems } from '../../src/model/check/check-history.ts';
import type { Schema, Verified } from '../../src/model/tool.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { scriptedModel, seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type {
  ScriptedAnswer,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptStep,
  SimulatedClock,
} from '../../src/testing/index.ts';

// An agent of the public API with a scripted model, under a clock that the test moves. What holds for every run of every file
// is checked after each test: see `watchEverything`.

/** An agent on a stage of its own. */
export interface Scene {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly clock: SimulatedClock;
  /** Everything that was told, of all runs and resumptions. */
  readonly events: readonly RunEvent[];
  /** Runs until there is an outcome, however long that takes on the simulated clock. */
  readonly run: (input?: RunInput, options?: RunOptions) => Promise<RunOutcome>;
  readonly resume: (runId: string, options?: ResumeOptions) => Promise<RunOutcome>;
}

/** What differs from an agent without anything. */
export interface SceneOptions extends Omit<AgentOptions, 'model' | 'clock' | 'output'> {
  readonly script: readonly ScriptStep[] | Extract<ScriptStep, (...given: never) => unknown>;
  readonly modelOptions?: ScriptedModelOptions;
  /** Shared by tools that tell the time. */
  readonly clock?: SimulatedClock;
}

const models: ScriptedModel[] = [];
const unhandled: unknown[] = [];

/** Sets the stage. */
export function setScene({
  script,
  modelOptions,
  clock = simulatedClock(),
  ...options
}: SceneOptions): Scene {
  const model = watchedModel(script, modelOptions);
  const events: RunEvent[] = [];
  const agent = createAgent({
    random: seededRandom(7),
    gates: createGates({ clock }),
    ...options,
    model,
    clock,
    callbacks: {
      ...options.callbacks,
      onEvent: (event, about) => {
        events.push(event);
        return options.callbacks?.onEvent?.(event, about);
      },
    },
  });
  return {
    agent,
    model,
    clock,
    events,
    run: (input = 'Do it.', given) => clock.runUntil(agent.run(input, given)),
    resume: (runId, given) => clock.runUntil(agent.resume(runId, given)),
  };
}

/** A scripted model whose every request is looked at after the test. */
export function watchedModel(script: SceneOptions['script'], options?: ScriptedModelOptions): ScriptedModel {
  const model = scriptedModel(script, options);
  models.push(model);
  return model;
}

/** Checks after every test of the file: each request was one that providers take, and no rejection was left to nobody. */
export function watchEverything(): void {
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    models.length = 0;
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    // Node tells of a rejection after the microtasks of the turn in which it was left alone.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    const asked = models.flatMap(({ calls }) => calls.map(({ request }) => request.messages));
    expect(asked.flatMap((messages) => findHistoryProblems(messages))).toEqual([]);
  });
}

type Arguments = Readonly<Record<string, Json>>;

/** An answer that calls one tool. */
export function calling(name: string, input: Arguments = {}): ScriptedAnswer {
  return { toolCalls: [{ name, arguments: input }] };
}

/** An answer that calls several tools. */
export function callingAll(
  ...calls: readonly (readonly [name: string, input?: Arguments])[]
): ScriptedAnswer {
  return { toolCalls: calls.map(([name, input = {}]) => ({ name, arguments: input })) };
}

const anyInput = { type: 'object', properties: {} } as const;

type PlainTool = Pick<Tool, 'name' | 'execute'> &
  Partial<Omit<Tool, 'name' | 'execute' | 'parse' | 'parameters'>> & { readonly input?: Schema };

/** A tool that says nothing of its input, unless the test does. */
export function plainTool(definition: PlainTool): Tool {
  const { input = anyInput, verify, ...rest } = definition;
  return tool({
    description: `Does ${definition.name}.`,
    input,
    ...rest,
    ...(verify === undefined ? {} : { verify: verify as () => Verified }), // Some answer nonsense on purpose.
  });
}

/** The results of tools in a conversation, in order. */
export function resultsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.map(({ content }) =>
          typeof content === 'string' ? content : JSON.stringify(content),
        )
      : [],
  );
}

/** The events of one type. */
export function eventsOf<Type extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}

/** What was decided about failures: `CODE → recovery`. */
export function decisionsIn(events: readonly RunEvent[]): readonly string[] {
  return eventsOf(events, 'recovery').map(({ failure, recovery }) => `${failure.code} → ${recovery}`);
}

/** An outcome of one type, or an error that shows it. */
export function expectType<Type extends RunOutcome['type']>(
  outcome: RunOutcome,
  type: Type,
): Extract<RunOutcome, { type: Type }> {
  if (outcome.type !== type) {
    const why = 'failure' in outcome ? outcome.failure?.message : undefined;
    throw new Error(
      `Expected ${type}, got ${outcome.type}: ${why ?? ''} ${JSON.stringify(outcome.messages)}`,
    );
  }
  return outcome as Extract<RunOutcome, { type: Type }>; // Seen above.
}
