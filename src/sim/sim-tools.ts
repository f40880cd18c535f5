import { defineTool } from '../model/define-tool.ts';
import type { Tool, ToolContext, ToolEffect, Verified } from '../model/tool.ts';
import type { SimStep } from './crash-points.ts';
import type { PlannedCall, SimToolName } from './plan.ts';
import type { Scripted } from './plan-family.ts';
import { wait } from './sim-model.ts';
import { sendPlanned } from './sim-sendings.ts';
import { reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { callRecord, isCancelled, never, report, tell } from './world.ts';
import type { CallRecord, World } from './world.ts';

/** One of the tools, or a step of a plan of the same kind. */
interface SimTool {
  readonly effect: ToolEffect;
  readonly step: Extract<SimStep, `${string} tool`>;
  readonly canVerify?: true;
  readonly asks?: true;
}

/** By name. */
export const simTools: Readonly<Record<SimToolName, SimTool>> = {
  look: { effect: 'read', step: 'read tool' },
  put: { effect: 'idempotent', step: 'idempotent tool' },
  send: { effect: 'once', step: 'once tool' },
  pay: { effect: 'once', step: 'verified tool', canVerify: true },
  wire: { effect: 'once', step: 'once tool', asks: true },
};

/** What a tool may take, and a lease outlives. */
export const timeoutMs = 20_000;

/** The tools of one process: what they do outlives it. */
export function createSimTools(process: SimProcess, scripts: Scripted['scripts']): readonly Tool[] {
  const turns = Object.values(scripts).flat();
  const names = new Set(turns.flatMap(({ calls }) => calls.map(({ tool }) => tool)));
  return [...names].map((name) => {
    const { effect, canVerify, asks } = simTools[name];
    return defineTool({
      name,
      description: `A tool of the effect ${effect}.`,
      input,
      effect,
      timeoutMs,
      ...(asks === undefined ? {} : { permission: 'ask' as const }),
      execute: (_input, context) => performCall(process, context.callId, context),
      ...(canVerify === undefined ? {} : { verify: (_input, { callId }) => verifyCall(process, callId) }),
    });
  });
}

const input = { type: 'object', properties: { call: { type: 'string' } }, required: ['call'] };

function plannedCall({ plan }: World, callId: string): PlannedCall {
  const found = plan.calls.get(callId);
  if (found === undefined) throw new Error(`The plan has no call ${callId}`);
  return found;
}

/** What a planned failure says. */
export const failureText = 'The plan says that it fails';

/** Makes a call as planned, with everything that can go wrong in it. */
export async function performCall(
  process: SimProcess,
  callId: string,
  context: ToolContext,
): Promise<unknown> {
  if (process.isDead) return never();
  const { world, clock } = process;
  const { signal } = context;
  const planned = plannedCall(world, callId);
  const { step, effect } = simTools[planned.tool];
  const record = callRecord(world, callId);
  tell(world, `${planned.tool} ${callId} is executed, attempt ${context.attempt}`);
  checkExecution(world, { planned, record, context });
  record.executions += 1;
  record.isCleared = false;
  if (reach(process, `before ${step}`)) return never();
  if (record.failures < planned.failures) {
    record.failures += 1;
    record.isCleared = true;
    return context.fail(failureText, { retryable: effect !== 'once', sideEffect: 'none' });
  }
  if (planned.delayMs > 0 && !(await wait(clock, planned.delayMs, signal))) throw signal.reason;
  record.effects += 1;
  tell(world, `${planned.tool} ${callId} has taken effect`);
  if (effect === 'once' && record.effects > 1)
    report(
      world,
      'once-twice',
      `The call ${callId} of "${planned.tool}" has taken effect ${record.effects} times`,
    );
  if (reach(process, `after ${step}`)) return never();
  sendPlanned(process, 'tool');
  if (planned.hangs && record.executions === 1) return never();
  return `done: ${callId}`;
}

interface Execution {
  readonly planned: PlannedCall;
  readonly record: CallRecord;
  readonly context: ToolContext;
}

function checkExecution(world: World, { planned, record, context }: Execution): void {
  const { tool, callId } = planned;
  const { effect, asks } = simTools[tool];
  const { idempotencyKey, attempt } = context;
  const call = `The call ${callId} of "${tool}"`;
  if (world.isOver) report(world, 'end-changed', `${call} was made by a run that had ended`);
  if (isCancelled(world))
    report(world, 'acknowledged-lost', `${call} was begun after it was on record that the run is cancelled`);
  const made = madeCall(world, callId, context);
  if (made.ended.has(attempt))
    report(
      world,
      'finished-again',
      `${call} has a result of attempt ${attempt} on record, and was made again`,
    );
  if (effect === 'once' && record.executions > 0 && !record.isCleared)
    report(world, 'once-twice', `${call} was made again, and nobody had found out that it did not happen`);
  if (effect !== 'read' && world.plan.top.type === 'agent' && !record.isOnRecord)
    report(world, 'begun-unwritten', `${call} was made, and the answer that asks for it is not on record`);
  if (asks === true && !record.isApproved)
    report(world, 'gate-opened', `${call} was made, and nobody had said yes`);
  checkKey(world, {
    record: made,
    call: made === record ? call : `${call} (${context.callId})`,
    idempotencyKey,
    effect,
  });
}

/** A step of a plan may be taken again after it failed: that is another call. */
function madeCall(world: World, planned: string, { runId, callId }: ToolContext): CallRecord {
  if (callId === planned) return callRecord(world, planned);
  const own = `${runId} ${callId}`;
  world.steps.add(own);
  return callRecord(world, own);
}

interface KeyCheck {
  readonly record: CallRecord;
  readonly call: string;
  readonly idempotencyKey: string;
  readonly effect: ToolEffect;
}

function checkKey(world: World, { record, call, idempotencyKey, effect }: KeyCheck): void {
  // What only reads may begin before it is on record that it was asked for: then it is asked for anew.
  if (effect !== 'read' && record.key !== undefined && record.key !== idempotencyKey)
    report(world, 'key-changed', `${call} had another idempotency key before`);
  record.key = idempotencyKey;
  const other = world.keys.get(idempotencyKey);
  if (other !== undefined && other !== call)
    report(world, 'key-changed', `${call} has the idempotency key of another one: ${other}`);
  world.keys.set(idempotencyKey, call);
}

/** The tool's own look at whether a call happened. */
export function verifyCall(process: SimProcess, callId: string): Verified | Promise<Verified> {
  const { world } = process;
  if (reach(process, 'before verify')) return never();
  const found = findOut(world, callId);
  tell(world, `verify of ${callId}: ${String(found.happened)}`);
  return reach(process, 'after verify') ? never() : found;
}

/** The truth about a call, as far as it can be had. */
export function findOut(world: World, callId: string): Verified {
  const record = callRecord(world, callId);
  if (plannedCall(world, callId).isObscure) return { happened: 'unknown' };
  if (record.effects > 0) return { happened: true, result: `done: ${callId}` };
  record.isCleared = true;
  return { happened: false };
}

/** What a person says who is asked whether a call may be made. */
export function decide(world: World, callId: string): boolean {
  const { isApproved } = plannedCall(world, callId);
  if (isApproved) callRecord(world, callId).isApproved = true;
  return isApproved;
}
