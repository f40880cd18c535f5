import { createCarriedRun, inboxOf, outside, standStill } from './carried-run.ts';
import type { AgentHost, CarriedRun } from './carried-run.ts';
import { collect, collectSoon, deliver, patiently } from './collect-letters.ts';
import { bytesOf, tooLarge } from './failures.ts';
import { readNotice } from './notice.ts';
import { asPlain, brokenRun, isInherited, letterIn, workflowIdOf } from './order.ts';
import type { Kept, Order, Returned } from './order.ts';
import { emptyLog, passOver, readLog, stepNames } from './run-log.ts';
import type { RunLog } from './run-log.ts';
import type { StepRow } from './sdk.ts';

/** The body of the workflow: runs one generation of a run, from its record, until it is over. */
export async function carryRun(host: AgentHost, order: Order): Promise<string> {
  const isFresh = host.fresh.delete(order.token);
  if (!isFresh && (await outside(() => hasNext(host, order)))) return JSON.stringify(restarted);
  const log = isFresh ? emptyLog : await takeUp(host, order);
  const { run, returned } = createCarriedRun(order, log);
  host.runs.set(order.runId, run);
  try {
    await prepare(host, run, { log, isFresh });
    if (host.isClosed) return await standStill();
    adopt(host, run, log);
    if (isFresh) collectSoon(host, run);
    return giveBack(host, await returned);
  } finally {
    forget(host, run);
  }
}

const restarted: Returned = { type: 'restarted' };

/** It has begun its next generation already, and only its own end is not on record. */
async function hasNext({ dbos }: AgentHost, order: Order): Promise<boolean> {
  const next = workflowIdOf({ ...order, generation: order.generation + 1 });
  const rows = await dbos.listWorkflows({ workflowIDs: [next], loadInput: false, loadOutput: false });
  return rows.length > 0;
}

async function takeUp(host: AgentHost, order: Order): Promise<RunLog> {
  const { dbos } = host;
  const workflowId = workflowIdOf(order);
  const steps: readonly StepRow[] = (await outside(() => dbos.listWorkflowSteps(workflowId))) ?? [];
  const notice = await readNotice(host, workflowId);
  await passOver(dbos, steps);
  return { ...readLog(steps), notice };
}

interface Preparing {
  readonly log: RunLog;
  readonly isFresh: boolean;
}

/** What came before the program begins must be there when it does: above all a cancellation. */
async function prepare(host: AgentHost, run: CarriedRun, { log, isFresh }: Preparing): Promise<void> {
  const { order } = run;
  if (order.cancelReason !== undefined) deliver(host, run, { type: 'cancel', reason: order.cancelReason });
  for (const letter of log.letters) if (letter.type === 'cancel') deliver(host, run, letter);
  if (order.generation > 1 && !log.hasInherited) await inherit(host, run);
  if (!isFresh) await patiently(host, () => collect(host, run));
}

/** What lies in the mailbox of the generation before: it is not received there any more. */
async function inherit(host: AgentHost, run: CarriedRun): Promise<void> {
  const { order } = run;
  const before = workflowIdOf({ ...order, generation: order.generation - 1 });
  const texts = await patiently(host, () => host.mail.read(before));
  const letters = texts.filter((text) => isInherited(order, letterIn(text)));
  const kept: Kept = { type: 'inherited', letters };
  const config = { name: stepNames.inherited, retriesAllowed: false } as const;
  await host.dbos.runStep(() => Promise.resolve(JSON.stringify(kept)), config);
  for (const text of letters) deliver(host, run, letterIn(text));
}

function adopt({ memory }: AgentHost, run: CarriedRun, { journal }: RunLog): void {
  const { runId, version, generation, input } = run.order;
  memory.letGo(runId);
  run.isAdopted = true;
  memory.adopt({
    runId,
    version,
    generation,
    input,
    journal,
    ...inboxOf(run),
    ...(run.cancelled === undefined ? {} : { cancelReason: run.cancelled.reason }),
  });
}

function giveBack({ maxValueBytes }: AgentHost, returned: Returned): string {
  if (returned.type === 'restarted') return JSON.stringify(returned);
  if (returned.end.type === 'broken') throw brokenRun(returned.end.failure, returned);
  const result = asPlain(returned.end.result);
  const bytes = bytesOf(result);
  if (bytes <= maxValueBytes) return JSON.stringify({ ...returned, end: { type: 'ended', result } });
  const failure = tooLarge('The result of the run', bytes, maxValueBytes);
  throw brokenRun(failure, { ...returned, end: { type: 'broken', failure } });
}

function forget({ runs, memory }: AgentHost, run: CarriedRun): void {
  const { runId } = run.order;
  if (runs.get(runId) !== run) return;
  runs.delete(runId);
  memory.letGo(runId);
}
