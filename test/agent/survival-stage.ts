import { expect } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type {
  Agent,
  AgentOptions,
  Failure,
  Model,
  RunEvent,
  RunInput,
  RunOutcome,
  Tool,
} from '../../src/index.ts';
import { defined } from '../../src/base/defined.ts';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosProtocol, ChaosServer, ChaosTurn, FaultSchedule } from '../../src/chaos/index.ts';
import { findHistoryProblems } from '../../src/model/check/check-history.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { providerModel, testKey } from '../model/provider-models.ts';

// One scenario, played through every way into an agent. Whatever the scenario is about, some things hold for all of them, and
// they are checked here: see `expectSound`.

/** The ways into an agent. All of them watch the one loop. */
export const ways = ['run', 'stream', 'ask'] as const;

export type Way = (typeof ways)[number];

/** What a tool writes down when its code is really reached. */
export type Reached = (name: string, input: unknown) => void;

/** A scenario: what the provider does, what the agent has, and what must come of it. */
export interface Row {
  readonly id: string;
  /** Good answers, one for each that arrives whole. */
  readonly script: readonly (string | ChaosTurn)[];
  readonly repeat?: boolean;
  readonly faults?: FaultSchedule;
  readonly tools?: (reached: Reached) => readonly Tool[];
  readonly options?: Partial<AgentOptions>;
  /** One model of the protocol by default. */
  readonly models?: (server: ChaosServer, protocol: ChaosProtocol) => readonly Model[];
  readonly input?: RunInput;
  /** How often each fault reached the other side. */
  readonly delivered: Readonly<Record<string, number>>;
  readonly expected: Summary;
  /** Looks at the server when the run has ended. */
  readonly look?: (server: ChaosServer) => void;
}

/** An outcome as far as rows compare it. */
export interface Summary {
  readonly type: RunOutcome['type'];
  readonly reason?: string;
  readonly code?: string;
  /** The answer, or what there is of one. */
  readonly text?: unknown;
  /** As the server counted them. */
  readonly requests: number;
  /** What was overcome: `CODE by recovery`. */
  readonly recoveries: readonly string[];
  /** What tools were reached with. */
  readonly reached?: readonly string[];
}

/** Waits are short, and bounds are long where nothing hangs: a loaded machine changes no outcome. */
export const quickRetry = {
  maxAttempts: 4,
  baseDelayMs: 2,
  maxDelayMs: 5,
  minDelayMs: 1,
  deadlineMs: 30_000,
} as const;
export const deadlineMs = 20_000;

/** What is there after a scenario was played. */
export interface Played {
  readonly outcome: RunOutcome;
  /** Nothing where nobody listened. */
  readonly events: readonly RunEvent[] | undefined;
  readonly answer: string | undefined;
  readonly tookMs: number;
}

/** What one way of playing a row came to. */
export interface End {
  readonly way: Way;
  readonly summary: Summary;
  readonly delivered: Readonly<Record<string, number>>;
}

/** Plays a row in every way, and checks that all of them come to the same. */
export async function endsOf(row: Row, protocol: ChaosProtocol): Promise<readonly End[]> {
  const ends = await Promise.all(ways.map((way) => playRow(row, { protocol, way })));
  const outcomes = ends.map(({ played }) => comparable(played.outcome));
  expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));
  return ends.map(({ way, summary, delivered }) => ({ way, summary, delivered }));
}

/** What the row says that every way comes to. */
export function expectedEnds({ expected, delivered }: Row): readonly End[] {
  return ways.map((way) => ({ way, summary: expected, delivered }));
}

/** Plays a row once, on a server and an agent of its own, and checks what holds for all. Gives what the row is about. */
export async function playRow(
  row: Row,
  { protocol, way }: { readonly protocol: ChaosProtocol; readonly way: Way },
): Promise<End & { readonly played: Played }> {
  const server = await startChaosServer({
    model: { script: row.script, ...defined({ repeat: row.repeat }) },
    ...defined({ faults: row.faults }),
  });
  const reached: string[] = [];
  try {
    const agent = createAgent({
      model: row.models?.(server, protocol) ?? chaosModel(server, protocol),
      tools: row.tools?.((name, input) => void reached.push(`${name} ${JSON.stringify(input)}`)) ?? [],
      gates: createGates(),
      ...row.options,
      policy: { retry: quickRetry, ...row.options?.policy },
      limits: { timeoutMs: deadlineMs, ...row.options?.limits },
    });
    const played = await observed(() => play(agent, { way, input: row.input ?? 'Tell me.' }));
    expectSound(played);
    row.look?.(server);
    const { requests, faultsByName } = server.counters();
    const summary = {
      ...summaryOf(played.outcome, requests),
      ...(row.tools === undefined ? {} : { reached }),
    };
    return { way, summary, played, delivered: faultsByName };
  } finally {
    await server.close();
  }
}

/** The model of a protocol, at the server. */
export function chaosModel(server: ChaosServer, protocol: ChaosProtocol): Model {
  return providerModel(protocol, { baseURL: server.baseURL(protocol) });
}

interface Playing {
  readonly way: Way;
  readonly input: RunInput;
  readonly signal?: AbortSignal;
}

/** Asks an agent in one of the ways. */
export async function play(agent: Agent<unknown>, { way, input, signal }: Playing): Promise<Played> {
  const startMs = performance.now();
  const options = defined({ signal });
  const done = (rest: Omit<Played, 'tookMs'>): Played => ({ ...rest, tookMs: performance.now() - startMs });
  if (way === 'run') {
    return done({ outcome: await agent.run(input, options), events: undefined, answer: undefined });
  }
  const events: RunEvent[] = [];
  if (way === 'stream') {
    const stream = agent.stream(input, options);
    for await (const event of stream) events.push(event);
    expect(events.at(-1)?.type).toBe('run-finished');
    return done({ outcome: await stream.outcome, events, answer: undefined });
  }
  const answer = await agent.ask(input, { ...options, onEvent: (event) => void events.push(event) });
  return done({ outcome: outcomeIn(events), events, answer });
}

function outcomeIn(events: readonly RunEvent[]): RunOutcome {
  const [end] = events.filter((event) => event.type === 'run-finished');
  if (end === undefined) throw new Error(`The run ended without saying so, after ${events.length} events`);
  return end.outcome;
}

/** Does something, and fails where a rejection was left to nobody meanwhile. */
export async function observed<Value>(work: () => Promise<Value>): Promise<Value> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const value = await work();
    // Node tells of a rejection after the microtasks of the turn in which it was left alone.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
    return value;
  } finally {
    process.off('unhandledRejection', note);
  }
}

/** What holds for every run, whatever happened to it. */
export function expectSound({ outcome, events, answer, tookMs }: Played): void {
  expect(tookMs).toBeLessThan(deadlineMs + 1000);
  expect(findHistoryProblems(outcome.messages)).toEqual([]);
  expect(JSON.stringify(outcome)).not.toContain(testKey);
  expect(Object.values(outcome.usage).filter((count) => !(Number.isFinite(count) && count >= 0))).toEqual([]);
  if (outcome.type === 'completed') expect(outcome.text.trim()).not.toBe('');
  if (answer !== undefined) expect(answer.trim()).not.toBe('');
  if (answer !== undefined && outcome.type === 'completed') expect(answer).toBe(outcome.text);
  if (events === undefined) return;
  const end = events.findIndex(({ type }) => type === 'run-finished');
  expect(events[end]).toEqual({ type: 'run-finished', outcome });
  // Evidence may come after the end; nothing else may.
  expect(events.slice(end + 1).filter(({ type }) => type !== 'hook-failed' && type !== 'tool-late')).toEqual(
    [],
  );
  if (outcome.type === 'completed') expect(shownText(events)).toBe(outcome.text);
}

/** The text of the last turn, by the rules that consumers are told. */
export function shownText(events: readonly RunEvent[]): string {
  const texts = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'turn-started') texts.set(event.turn, '');
    if (event.type === 'text-delta') texts.set(event.turn, (texts.get(event.turn) ?? '') + event.text);
    if (event.type === 'text-retracted')
      texts.set(event.turn, (texts.get(event.turn) ?? '').slice(0, event.keep));
  }
  return texts.get(Math.max(...texts.keys())) ?? '';
}

/** What a row says of an outcome. */
export function summaryOf(outcome: RunOutcome, requests: number): Summary {
  const failure = 'failure' in outcome ? outcome.failure : undefined;
  const said = outcome.type === 'completed' ? outcome.text : undefined;
  const partial = 'partial' in outcome && outcome.partial !== '' ? outcome.partial : undefined;
  return {
    type: outcome.type,
    ...defined({
      reason: 'reason' in outcome ? outcome.reason : undefined,
      code: failure?.code,
      text: said ?? partial,
    }),
    requests,
    // Whether a broken answer is continued or asked for again depends on what the protocol can do.
    recoveries: outcome.recoveries.map(
      ({ failure: { code }, recovery }) => `${code} by ${recovery === 'splice' ? 'retry' : recovery}`,
    ),
  };
}

/** An outcome without what chance and time put into it, to compare one way with another. */
export function comparable(outcome: RunOutcome): unknown {
  return JSON.parse(JSON.stringify(outcome), (name, value: unknown) => {
    if (name === 'failure') return (value as Failure).code; // The system's words for a reset depend on when it was noticed.
    return volatile.has(name) ? 0 : value;
  });
}

const volatile = new Set([
  'runId',
  'elapsedMs',
  'waitedMs',
  'lostMs',
  'durationMs',
  'resumeAt',
  'retryAfterMs',
  'expiresAt',
  'report',
  'id',
]);
