import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { restartError } from '../../runtime/record/durable-errors.ts';
import type { Durable, DurableProgram } from '../../runtime/record/durable.ts';
import { createInbox } from '../../runtime/record/memory-inbox.ts';
import { callEffect } from './call-effect.ts';
import { cancelRun, checkSize, freshFor, sizeFault } from './generation.ts';
import type { Generation } from './generation.ts';
import { journalPage } from './journal-page.ts';
import type { Begin, CarriedResult, LeftBehind } from './messages.ts';
import type { Sandbox } from './sandbox.ts';
import { deliver, sleepFor, waitForSignal } from './wait-verbs.ts';

/** Runs one generation of a run in a workflow: the verbs of the port, made of Temporal's own. */
export async function carryRun(
  sandbox: Sandbox,
  program: DurableProgram,
  begin: Begin,
): Promise<CarriedResult> {
  const generation = createGeneration(sandbox, begin);
  sandbox.listen({
    onSignal: (signal) => deliver(generation, signal),
    onCancel: (reason) => cancelRun(generation, reason),
    status: () => statusOf(generation),
    journal: (from) => journalPage(generation, from),
  });
  try {
    const result = await program(durableOf(generation), begin.input);
    checkSize(generation, result, 'the result');
    tellEnded(generation);
    return { ...leftBeside(generation, result), result };
  } catch (error) {
    const next = nextBegin(generation);
    if (next !== undefined && !RerailError.isInstance(next)) return sandbox.continueAsNew(next);
    const failure = failureOf(next ?? error);
    tellEnded(generation);
    throw sandbox.broken({ ...leftBeside(generation, failure as unknown as Json), failure }); // Failures are JSON.
  }
}

function createGeneration(sandbox: Sandbox, begin: Begin): Generation {
  const { signals, signalIds, limits } = begin;
  return {
    sandbox,
    begin,
    inbox: createInbox(limits.maxSignals, { signals, signalIds, journal: [] }),
    entries: [],
    waits: new Set(),
    begun: new Map(),
    stops: new Set(),
    next: 0,
    stop: undefined,
    known: undefined,
    queue: undefined,
    announced: undefined,
    nextInput: undefined,
  };
}

function durableOf(generation: Generation): Durable {
  const { begin } = generation;
  const { runId } = begin;
  const take = (): number => {
    generation.next += 1;
    return generation.next - 1;
  };
  return {
    runId,
    generation: begin.generation,
    call: (effect, input, options) =>
      callEffect(generation, { position: take(), effect, input, timeoutMs: options?.timeoutMs }),
    sleep: (delayMs) => awaitable(sleepFor(generation, take(), delayMs)),
    waitFor: (signal, options = {}) => awaitable(waitForSignal(generation, take(), { ...options, signal })),
    restart: (state) => {
      if (generation.stop !== undefined) throw generation.stop;
      checkSize(generation, state, 'the state that it would continue with');
      generation.nextInput = { value: state };
      throw restartError(runId);
    },
    announce: (value) => {
      generation.announced = { value };
    },
  };
}

/** A program may wait for it later, or not at all: Temporal would stop the workflow at an unhandled rejection. */
function awaitable<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}

function statusOf({ waits, announced }: Generation): { waiting?: string; announced?: Json } {
  const [first] = waits;
  return {
    ...(first === undefined ? {} : { waiting: first.signal }),
    ...(announced === undefined ? {} : { announced: announced.value }),
  };
}

/** What the next generation begins with, where there is to be one; an error where that is more than Temporal takes. */
function nextBegin(generation: Generation): Begin | RerailError | undefined {
  const { begin, nextInput } = generation;
  if (nextInput === undefined) return undefined;
  const next = {
    ...begin,
    ...leftBy(generation),
    generation: begin.generation + 1,
    input: nextInput.value,
  };
  return sizeFault(generation, next as unknown as Json, 'the input of its next generation') ?? next; // JSON, all of it.
}

function leftBy({ begin, inbox }: Generation): LeftBehind {
  return { generation: begin.generation, signals: inbox.all(), signalIds: inbox.ids() };
}

/** Signals that were not taken wait for a generation after the end, as far as there is room for them beside it. */
function leftBeside({ begin, inbox }: Generation, end: Json): LeftBehind {
  const { generation, limits } = begin;
  const left = { generation, signals: inbox.all(), signalIds: inbox.ids() };
  const chars = JSON.stringify(left).length + JSON.stringify(end).length;
  return chars * 3 <= limits.maxValueBytes ? left : { generation, signals: [], signalIds: [] };
}

function tellEnded(generation: Generation): void {
  const { sandbox, begin } = generation;
  const { runId, generation: number } = begin;
  sandbox.tell({ type: 'ended', runId, generation: number, ...freshFor(generation) });
}

function failureOf(error: unknown): Failure {
  if (RerailError.isInstance(error)) return error.failure;
  // Temporal's own errors carry circles; what they say is all that is wanted of them.
  const plain = error instanceof Error || isRecord(error) ? error : new Error(String(error));
  return classifyFailure(plain, 'durable');
}
