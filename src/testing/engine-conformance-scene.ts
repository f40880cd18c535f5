import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Json } from '../base/json.ts';
import type {
  DurableProgram,
  Effect,
  Engine,
  Outcome,
  RunStatus,
  Started,
} from '../runtime/record/durable.ts';
import type { CreateEngine, EngineFeature, EngineUnderTest, Reopening } from './engine-conformance.ts';
import { must } from './model-conformance-probe.ts';
import { simulatedClock } from './simulated-clock.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** A promise of the port, and how to see whether it is kept. */
export interface EngineRule {
  readonly name: string;
  readonly needs?: EngineFeature;
  readonly check: (stage: Stage) => Promise<void>;
}

/** Where a case opens its engines; whatever it opened is closed in the end. */
export interface Stage {
  readonly open: (setup: SceneSetup) => Promise<Scene>;
  readonly close: () => Promise<void>;
}

/** What a case runs. */
export interface SceneSetup {
  readonly program: DurableProgram;
  readonly effects?: Readonly<Record<string, Effect>>;
}

/** One engine with one run, and what a case does to them. */
export interface Scene {
  readonly runId: string;
  /** The engine that is up now. */
  readonly engine: () => Engine;
  readonly start: (input?: Json, after?: number) => Promise<Started>;
  readonly signal: (name: string, id: string, payload?: Json) => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly status: () => Promise<RunStatus>;
  /** Waits, and lets time pass, until it holds; throws the sentence where it never does. */
  readonly until: (condition: () => boolean | Promise<boolean>, sentence: string) => Promise<void>;
  readonly waitsFor: (signal: string) => Promise<void>;
  /** The result of the run, which must end. */
  readonly result: () => Promise<Json>;
  /** The end of the run, whichever it is. */
  readonly end: () => Promise<Extract<RunStatus, { readonly type: 'ended' | 'broken' }>>;
  /** Lets time pass; in real time only where the engine has its own. */
  readonly pass: (ms: number) => Promise<void>;
  readonly usesClock: () => boolean;
  readonly crash: (
    reopening?: Omit<Reopening, 'signals'> & { readonly signals?: readonly Sent[] },
  ) => Promise<void>;
  readonly journalBytes: () => Promise<number>;
}

/** A signal to the run of the scene. */
export interface Sent {
  readonly name: string;
  readonly id: string;
  readonly payload: Json;
}

const clockStepMs = 10;
const realStepMs = 5;
/** By the clock; what a case waits for comes within a second or two. */
const maxClockedMs = 10_000;
/** Ends a case that would hang; far above what any needs. */
const maxRealMs = 30_000;

/** Opens scenes over the engines of one backend. */
export function createStage(createEngine: CreateEngine): Stage {
  const opened: (() => Promise<void>)[] = [];
  return {
    open: async (setup) => {
      const clock = simulatedClock();
      const { program, effects = {} } = setup;
      const held: Held = {
        subject: await createEngine({ program, effects, clock }),
        clock,
        runId: randomUUID(),
      };
      opened.push(() => closeEngine(held));
      return createScene(held);
    },
    close: async () => {
      for (const close of opened) await close();
    },
  };
}

/** An outcome that an effect gives back. */
export function done(value: Json): Outcome {
  return { type: 'done', value };
}

/** The value of an outcome that must be one. */
export function valueOf(outcome: Outcome): Json {
  must(outcome.type === 'done', 'An effect that succeeded is told as failed.');
  return outcome.value;
}

/** An outcome as a program's result. A failure is plain data, which its type cannot say. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** Throws where two results differ as JSON. */
export function mustBe(actual: Json, expected: Json, sentence: string): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  must(seen === wanted, `${sentence} Expected ${wanted}, got ${seen.slice(0, 500)}.`);
}

/** A door that effects wait at until the case opens it. */
export interface Door {
  readonly opened: Promise<void>;
  readonly open: () => void;
  /** An effect that does nothing else than wait at the door. */
  readonly passed: () => Promise<Outcome>;
}

/** A door that is shut. */
export function createDoor(): Door {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const passed = async (): Promise<Outcome> => {
    await opened;
    return done(null);
  };
  return { opened, open: () => open(), passed };
}

interface Held {
  subject: EngineUnderTest;
  readonly clock: SimulatedClock;
  readonly runId: string;
}

function createScene(held: Held): Scene {
  const { runId } = held;
  const engine = (): Engine => held.subject.engine;
  const status = (): Promise<RunStatus> => engine().status(runId);
  const until: Scene['until'] = (condition, sentence) => waitUntil(held, condition, sentence);
  const end: Scene['end'] = () => endOf(held);
  return {
    runId,
    engine,
    status,
    until,
    end,
    start: (input = null, after = 0) => engine().start(input, { runId, version: '1', after }),
    signal: (name, id, payload = null) => engine().signal(runId, name, { id, payload }),
    cancel: () => engine().cancel(runId, 'the suite wants it'),
    waitsFor: (signal) =>
      until(async () => {
        const now = await status();
        return now.type === 'waiting' && now.signal === signal;
      }, `The status never says that the run waits for "${signal}".`),
    result: async () => {
      const ended = await end();
      must(ended.type === 'ended', `The run broke: ${ended.type === 'broken' ? ended.failure.message : ''}`);
      return ended.result;
    },
    pass: (ms) => (held.subject.usesClock === true ? held.clock.advance(ms) : setTimeout(ms)),
    usesClock: () => held.subject.usesClock === true,
    crash: (reopening = {}) => crash(held, reopening),
    journalBytes: () => {
      must(held.subject.journalBytes !== undefined, 'The engine cannot tell the size of a journal.');
      return held.subject.journalBytes(runId);
    },
  };
}

async function waitUntil(
  { subject, clock }: Held,
  condition: () => boolean | Promise<boolean>,
  sentence: string,
): Promise<void> {
  const isClocked = subject.usesClock === true;
  const rounds = isClocked ? maxClockedMs / clockStepMs : maxRealMs / realStepMs;
  for (let round = 0; round < rounds; round += 1) {
    if (await condition()) return;
    await (isClocked ? clock.advance(clockStepMs) : setTimeout(realStepMs));
  }
  throw new Error(sentence);
}

async function endOf(held: Held): ReturnType<Scene['end']> {
  const read = (): Promise<RunStatus> => held.subject.engine.status(held.runId);
  await waitUntil(held, async () => ['ended', 'broken'].includes((await read()).type), 'The run never ends.');
  const end = await read();
  must(end.type === 'ended' || end.type === 'broken', 'A run that had ended is no longer known as ended.');
  return end;
}

async function crash(
  held: Held,
  { program, signals = [] }: NonNullable<Parameters<Scene['crash']>[0]>,
): Promise<void> {
  const { reopen } = held.subject;
  must(reopen !== undefined, 'The engine cannot be reopened: name "reopen" as unsupported.');
  held.subject = await reopen({
    ...(program === undefined ? {} : { program }),
    signals: signals.map(({ name, id, payload }) => ({ runId: held.runId, name, message: { id, payload } })),
  });
}

async function closeEngine({ subject, clock }: Held): Promise<void> {
  const closing = subject.close();
  await (subject.usesClock === true ? clock.runUntil(closing) : closing);
}
