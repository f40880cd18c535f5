import { recall } from '../../agent/tools/remember.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { ReadyCall } from '../../agent/state.ts';
import type { Reply, ToolEnd } from '../../agent/tools/tool-call.ts';
import { isForeign } from '../../agent/approval/provenance.ts';
import { hashText } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { describeThrown } from '../../errors/classify/safe-read.ts';
import { createFailure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { runOwned } from '../../model/stray-errors.ts';
import type { Tool } from '../../model/tool.ts';
import { addLedgers } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { AgentParts } from '../agent-parts.ts';
import { assist } from '../model-call/assist.ts';
import { watchBackground } from './background.ts';
import { dropPromise } from './bounded-work.ts';
import type { EffectContext } from '../record/durable.ts';
import { findInTheWay } from './left-behind.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import { processWatch } from './process-watch.ts';
import { runTool } from './run-tool.ts';
import type { CallEnd, ToolRun, ToolRunOptions } from './run-tool.ts';
import { createResourceLocks } from './resource-locks.ts';
import { createSlots } from './slots.ts';
import type { Leave } from './slots.ts';
import type { Report, ToolEffectInput } from './tool-effects.ts';
import { ownerOfCall, suspectOf } from './tool-warnings.ts';

/** The longest result that is kept whole. To encode a larger one would hold up everybody else. */
const maxSpilledCharacters = 1_000_000;

/** One attempt at a call while it is worked on. */
export interface Working {
  readonly call: ReadyCall;
  readonly tool: Tool;
  readonly input: ToolEffectInput;
  readonly context: EffectContext;
  readonly onBackground: Report;
  readonly startMs: number;
  /** What `assist` has used up so far, also where it failed. */
  spent: Ledger | undefined;
  /** Works that it has left in the background. */
  works: number;
  /** What was reported of it besides its end. */
  warnings: number;
}

/** Waits for a place and for what it declares to need, then runs. A promise only where something is waited for. */
export function runHeld(parts: AgentParts, live: LiveRun, working: Working): CallEnd | Promise<CallEnd> {
  const { signal } = working.context;
  if (signal.aborted) return notStarted(working.call);
  const run = toRun(parts, live, working);
  const { resource } = run;
  live.slots ??= createSlots(live.maxConcurrentTools);
  const entering = live.slots.enter({ signal });
  if (entering instanceof Promise || resource !== undefined)
    return runLater(parts, live, { working, run, entering, resource });
  const ran = begin(parts, live, { working, run });
  if (ran instanceof Promise) return ran.finally(entering);
  entering();
  return ran;
}

/** The call as a tool is run. */
export function toRun(parts: AgentParts, live: LiveRun, working: Working): ToolRun {
  const { config } = parts;
  const { call, tool, input } = working;
  const { runId } = live;
  const { turn, index, attempt } = input;
  const elapsedMs = live.state?.elapsedMs ?? 0;
  const given = live.inputs?.get(index) ?? call.input;
  return {
    tool,
    callId: call.callId,
    input: given,
    resource:
      typeof tool.resource === 'function'
        ? runOwned(ownerOfCall(parts, live, working), () => resourceOf(tool, given, live))
        : tool.resource,
    runId,
    turn,
    attempt,
    // Of the call's place in the run, so that it is the same for every attempt and after every crash. Arguments that a person
    // changed are another call to the other side.
    idempotencyKey: () => {
      const changed = call.asked === undefined ? '' : `/${call.hash}`;
      return hashText(`${runId}/${turn}/${index}/${tool.name}${changed}`);
    },
    leftMs: Math.max(1, config.limits.timeoutMs - elapsedMs),
    ...repliesTo(live, call),
    recall: (name) => (live.state === undefined ? undefined : recall(live.state, name)),
  };
}

/** What was said here; an answer that came with the record of a run from elsewhere is none. */
function repliesTo(
  { provenance }: LiveRun,
  { replies = noReplies }: ReadyCall,
): Pick<ToolRun, 'replies' | 'asksAgain'> {
  if (provenance === undefined || replies.length === 0) return { replies };
  const last = replies.at(-1);
  const isOpen = last?.isResult === true && isForeign(provenance, last);
  return {
    replies: replies.filter((reply) => !isForeign(provenance, reply)),
    asksAgain: isOpen ? { question: last.question, isResult: true } : undefined,
  };
}

const noReplies: readonly Reply[] = [];

/** What the run gives a tool besides. */
export function optionsOf(parts: AgentParts, live: LiveRun, working: Working): ToolRunOptions {
  const { call, input, context, onBackground } = working;
  const { callId, name, effect } = call;
  const { turn } = input;
  return {
    // Without a store there is nothing to spill into.
    maxSpilledCharacters: parts.store === undefined ? 0 : maxSpilledCharacters,
    clock: parts.clock,
    leftBehind: parts.leftBehind,
    signal: context.signal,
    onProgress: (progress) => publish(live, { type: 'tool-progress', turn, callId, name, ...progress }),
    onLate: (late) => publish(live, { type: 'tool-late', turn, callId, name, ...late }),
    owner: ownerOfCall(parts, live, working),
    around: parts.hooks.aroundTool,
    assist: (prompt, schema, signal) => {
      const onSpent = (ledger: Ledger): void => {
        working.spent = working.spent === undefined ? ledger : addLedgers(working.spent, ledger);
      };
      return assist(parts, live, { prompt, schema, signal, onSpent });
    },
    onBackground: (label, work) => {
      working.works += 1;
      const id = `${live.runId}:${turn}:${callId}:${input.attempt}:${working.works}`;
      watchBackground(work, { id, name, label, effect }, (report) => onBackground(live, report));
    },
  };
}

function begin(
  parts: AgentParts,
  live: LiveRun,
  { working, run }: { readonly working: Working; readonly run: ToolRun },
): CallEnd | Promise<CallEnd> {
  const isStarting = live.watchers.size > 0 && findInTheWay(run, parts.leftBehind) === undefined;
  if (isStarting) publish(live, startOf(working.call, working.input, run.input));
  const lookAgain = processWatch.begin(suspectOf(live, working));
  const ended = runTool(run, optionsOf(parts, live, working));
  if (ended instanceof Promise) return ended.finally(lookAgain);
  lookAgain();
  return ended;
}

interface Queued {
  readonly working: Working;
  readonly run: ToolRun;
  readonly entering: Leave | Promise<Leave>;
  readonly resource: string | undefined;
}

async function runLater(
  parts: AgentParts,
  live: LiveRun,
  { working, run, entering, resource }: Queued,
): Promise<CallEnd> {
  const { signal } = working.context;
  try {
    const leave = await entering;
    try {
      const locks = (live.locks ??= createResourceLocks());
      const release = resource === undefined ? undefined : await locks.acquire([resource], { signal });
      try {
        return await begin(parts, live, { working, run });
      } finally {
        release?.();
      }
    } finally {
      leave();
    }
  } catch (error) {
    // Only the waits reject, and only because the run was cancelled: the tool has not been started.
    if (!signal.aborted) throw error;
    return notStarted(working.call);
  }
}

function startOf({ callId, name }: ReadyCall, { turn, attempt }: ToolEffectInput, input: Json): RunEvent {
  return { type: 'tool-started', turn, callId, name, input, attempt };
}

function notStarted({ callId, name }: ReadyCall): ToolEnd {
  const message = `The run was cancelled before "${name}" was started`;
  const failure = createFailure('CANCELLED', {
    origin: 'tool',
    message,
    sideEffect: 'none',
    context: { tool: name },
  });
  return {
    callId,
    name,
    type: 'failed',
    content: renderFailure(failure, 'model'),
    failure,
    resultHash: 'cancelled',
    durationMs: 0,
  };
}

function resourceOf(tool: Tool, input: Json, live: LiveRun): string | undefined {
  const { name, resource } = tool;
  if (typeof resource !== 'function') return resource;
  try {
    const named: unknown = resource(input);
    return typeof named === 'string' && named !== '' ? named : unnamedResource(tool, named);
  } catch (error) {
    const failure = createFailure('HOOK_FAILED', {
      origin: 'hook',
      message: `"resource" of the tool "${name}" threw, so the call waits for all others of its tool: ${describeThrown(error)}`,
      context: { tool: name },
      cause: error,
    });
    publish(live, { type: 'hook-failed', hook: 'resource', point: 'before-tool', failure });
    return unnamedResource(tool, error);
  }
}

/** What the call needs is not known, so it waits for every other call of its tool whose need is not known either. */
function unnamedResource({ name }: Tool, given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  dropPromise(given);
  return `${name}: unknown resource`;
}
