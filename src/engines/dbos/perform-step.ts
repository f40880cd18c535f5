import { assert } from '../../base/assert.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Effect, EffectContext, EffectEnd } from '../../runtime/record/durable.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import type { AgentHost, CarriedRun } from './carried-run.ts';
import { bytesOf, checkSize, tooLarge } from './failures.ts';
import { asPlain, brokenBy } from './order.ts';
import type { Kept } from './order.ts';

/** How long an effect in progress may take to tell what came of it, once its run is cancelled. */
export const cancelGraceMs = 1000;

/** Makes each effect a step of DBOS, whose output is the entry of the journal: the outcome of the effect is recorded before it is reported. */
export function effectsAsSteps(
  host: () => AgentHost,
  effects: Readonly<Record<string, Effect>>,
): Readonly<Record<string, Effect>> {
  return Object.fromEntries(
    Object.keys(effects).map((name): readonly [string, Effect] => [
      name,
      (input, context) => performStep(host(), name, { input, context }),
    ]),
  );
}

interface Asked {
  readonly input: Json;
  readonly context: EffectContext;
}

async function performStep(host: AgentHost, name: string, asked: Asked): Promise<EffectEnd> {
  const { runId, position } = asked.context;
  const run = host.runs.get(runId);
  assert(run !== undefined, `Run "${runId}" calls "${name}", but no workflow is running it`);
  try {
    const input = asPlain(asked.input);
    checkSize(`The input of "${name}"`, input, host.maxValueBytes);
    const config = { name, retriesAllowed: false } as const;
    const text = await run.inWorkflow(() =>
      host.dbos.runStep(() => performAndTell(host, run, { ...asked, input, name }), config),
    );
    const kept = JSON.parse(text) as Kept;
    run.recorded.add(position);
    if (kept.type === 'call') return endIn(kept);
    // This is not received: the run has another outcome meanwhile.
    return failed('The outcome came too late');
  } catch (error) {
    // This is no outcome of the effect: the engine learns so when it records it.
    run.troubles.set(position, asTrouble(error));
    return { type: 'failed', failure: classifyFailure(error, 'durable') };
  }
}

/** Never throws for what the effect does, so that DBOS neither retries it nor keeps an error that only it can read. */
async function performAndTell(
  host: AgentHost,
  run: CarriedRun,
  { name, input, context }: Asked & { readonly name: string },
): Promise<string> {
  const { position } = context;
  const end = fitting(host, name, await endOf(host, name, { input, context }));
  const isHeard = !run.answered.delete(position) && !isGivenUp(host, run);
  const entry: Kept = isHeard ? entryOf({ name, position, input }, end) : { type: 'gap' };
  return JSON.stringify(entry);
}

/** What is too large to be kept is a failure instead; what it took in is taken. */
function fitting({ maxValueBytes }: AgentHost, name: string, end: EffectEnd): EffectEnd {
  const bytes = bytesOf(end);
  if (bytes <= maxValueBytes) return end;
  const failure = tooLarge(`The outcome of "${name}"`, bytes, maxValueBytes);
  return { type: 'failed', failure, ...(end.took === undefined ? {} : { took: end.took }) };
}

/** DBOS knows its own errors; one of ours ends the run as broken, with its failure. */
function asTrouble(error: unknown): unknown {
  return RerailError.isInstance(error) ? brokenBy(error.failure) : error;
}

function isGivenUp({ setup }: AgentHost, { cancelled }: CarriedRun): boolean {
  return cancelled !== undefined && setup.clock.monotonicMs() - cancelled.atMs > cancelGraceMs;
}

async function endOf({ setup }: AgentHost, name: string, { input, context }: Asked): Promise<EffectEnd> {
  try {
    const end = await setup.effects[name]?.(input, context);
    if (end?.type !== 'done' && end?.type !== 'failed')
      return failed(`Effect "${name}" gave ${JSON.stringify(end)} instead of an outcome`);
    return asPlain(end);
  } catch (thrown) {
    return { type: 'failed', failure: classifyFailure(thrown, 'agent') };
  }
}

function failed(message: string): EffectEnd {
  return { type: 'failed', failure: createFailure('INTERNAL', { message }) };
}

function entryOf(
  { name, position, input }: { readonly name: string; readonly position: number; readonly input: Json },
  end: EffectEnd,
): JournalEntry {
  const { took, ...outcome } = end;
  const entry = { type: 'call', position, effect: name, input, outcome } as const;
  return took === undefined ? entry : { ...entry, took };
}

function endIn({ outcome, took }: Extract<JournalEntry, { type: 'call' }>): EffectEnd {
  return took === undefined ? outcome : { ...outcome, took };
}
