import type { RunOutcome } from '../../agent/run-outcome.ts';
import { readProvenance } from '../../agent/approval/provenance.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { NewEvent } from '../../model/store/store.ts';
import { showValue } from '../../model/check/show-value.ts';
import { factsOfAgent } from '../run/agent-facts.ts';
import type { AgentParts } from '../agent-parts.ts';
import { joinRun } from '../run/held-runs.ts';
import type { HeldRuns } from '../run/held-runs.ts';
import type { RunSnapshot } from '../record/journal.ts';
import { keepInput } from '../record/kept-input.ts';
import { createLiveRun } from '../run/live-run.ts';
import { configIn } from '../transfer/replay-parts.ts';
import { resumeRun } from '../run/resume-run.ts';
import { checkRunOptions } from '../run/run-input.ts';
import type { ResumeOptions, TakeOverOptions } from '../run/run-input.ts';
import type { RunKeeper } from '../record/run-keeper.ts';
import { demandTools, partsOfRun, runToolsIn } from '../run/run-parts.ts';
import { rowOfStart } from '../record/stored-rows.ts';
import { toEvent } from '../record/stored-run.ts';
import { watchRun } from '../watch/run-watchers.ts';

/** Continues a run that began on another backend, from what is on record of it there. */
export async function takeOverRun(
  held: HeldRuns,
  given: RunSnapshot,
  options: TakeOverOptions,
): Promise<RunOutcome> {
  checkRunOptions(options, 'takeOver');
  const record = checkRecord(held.parts, given, options);
  const { runId } = record;
  const { runs, keeper, parts, engine } = held;
  const known = runs.get(runId);
  if (known !== undefined) return joinRun(held, known, { options }).outcome;
  const own = partsOfRun(held, options);
  demandTools(runId, runToolsIn(configIn(record.input)), own ?? parts);
  if (keeper !== undefined) {
    await writeRecord(keeper, own ?? parts, record);
    return resumeRun(held, runId, { ...options, trusted: undefined } as ResumeOptions); // What is undefined is not looked at.
  }
  const live = createLiveRun(runId, parts.config.limits.maxConcurrentTools);
  live.parts = own;
  runs.set(runId, live);
  live.provenance = record.provenance;
  watchRun(parts, live, options.onEvent);
  engine.adopt(record);
  return live.outcome.promise;
}

/** All at once, or a crash in the middle would leave a record that has forgotten the end of what was done. */
async function writeRecord({ store }: RunKeeper, parts: AgentParts, record: RunSnapshot): Promise<void> {
  const { runId, version, generation, input, journal, cancelReason, signals, provenance } = record;
  const { name, newId, leaseMs } = parts;
  const moved: NewEvent[] =
    provenance === undefined ? [] : [toEvent({ type: 'moved', body: { provenance } })];
  const cancelled: NewEvent[] =
    cancelReason === undefined ? [] : [toEvent({ type: 'cancelled', body: { reason: cancelReason } })];
  const began = {
    version,
    generation,
    facts: factsOfAgent(parts),
    input: await keepInput(input, runId, store.blobs),
  };
  const events = [
    toEvent({ type: 'began', body: began }),
    ...journal.map((entry) => toEvent({ type: entry.type, body: entry })),
    ...cancelled,
    ...moved,
  ];
  const row = { status: 'running', beginsGeneration: true, ...rowOfStart(input) } as const;
  const created = await store.runs.create({ runId, agent: name, events, row }, { id: newId(), leaseMs });
  // One that is there already was taken over before, or is refused when it is resumed.
  for (const signal of signals) await store.runs.signal(runId, signal);
  if (created.type === 'created') await store.runs.release(created.lease);
}

/** A record that this agent can continue with, without the rights that it claims. Throws where it is none. */
export function checkRecord(
  { conductor, name, newId, clock }: AgentParts,
  given: unknown,
  { trusted = false }: TakeOverOptions,
): RunSnapshot {
  if (!isRecord(given) || typeof given['runId'] !== 'string' || !Array.isArray(given['journal']))
    throw configError(`takeOver() takes the result of journal() of another agent, got ${showValue(given)}`);
  const record = given as unknown as RunSnapshot; // Its entries are compared with what the program does.
  if (conductor !== undefined)
    throw refused(record, `"${name}" is a flow, a plan or a team, whose runs have child runs`, byCopying);
  if (record.end?.type === 'broken') throw RerailError.from(record.end.failure);
  const { runId, version, generation, input, journal, signals, signalIds, cancelReason } = record;
  // Its end is found again: by the record alone, if that holds all of it.
  const bare = defined({ runId, version, generation, input, journal, signals, signalIds, cancelReason });
  const before = readProvenance(record.provenance);
  if (trusted) return before === undefined ? bare : { ...bare, provenance: before };
  const own = { type: 'taken-over', ...before, id: newId(), atMs: clock.wallMs() } as const;
  return { ...bare, signals: signals.filter(isNoAnswer), provenance: own };
}

/** What was said to a question elsewhere is no answer here. */
export function isNoAnswer({ name }: { readonly name: string }): boolean {
  return name !== 'resume';
}

/** Why a record cannot be continued here, and what to do instead. */
export function refused({ runId }: RunSnapshot, why: string, hint: string): RerailError {
  const message = `The run "${runId}" cannot be taken over: ${why}`;
  return RerailError.from(
    createFailure('INVALID_STATE', { origin: 'agent', message, hint, context: { runId } }),
  );
}

const byCopying = 'Copy it with its child runs from store to store: `copyRuns(from, to, { remove: true })`.';

/** What is on record of a run of an agent with a store. */
export async function journalOfRun({ keeper }: HeldRuns, runId: string): Promise<RunSnapshot | undefined> {
  if (keeper === undefined)
    throw RerailError.from(
      createFailure('INVALID_STATE', {
        origin: 'agent',
        message: `Nothing is on record of the run "${runId}": the agent has neither a store nor an engine`,
        hint: 'Create the agent with `store: sqlite(…)`, `store: postgres(…)` or an `engine`.',
      }),
    );
  const row = await keeper.store.runs.find(runId);
  return row === undefined ? undefined : (await keeper.read(row)).snapshot;
}
