import type { AttemptedCall, VerifiedCall } from '../agent/event.ts';
import type { RunEvent } from '../agent/run-event.ts';
import type { CallState, ReadyCall, RunState } from '../agent/state.ts';
import type { ToolEnd } from '../agent/tool-call.ts';
import { hashText } from '../base/hash.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import { renderFailure } from '../errors/render-failure.ts';
import type { Store } from '../model/store.ts';
import type { Tool } from '../model/tool.ts';
import { addLedgers } from '../resilience/ledger.ts';
import type { Ledger } from '../resilience/ledger.ts';
import type { AgentParts } from './agent-parts.ts';
import { assist } from './assist.ts';
import { watchBackground } from './background.ts';
import type { BackgroundReport } from './background.ts';
import type { EffectContext, EffectEnd } from './durable.ts';
import { foreignIntent, issueIntent, outlive, useToken } from './intent.ts';
import type { Intent } from './intent.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';
import { runTool, verifyTool } from './run-tool.ts';
import { spillEnd } from './spill-result-end.ts';
import type { ToolRun, ToolRunOptions } from './run-tool.ts';

/** Which call is meant, by its place in the turn. */
export interface ToolEffectInput {
  readonly turn: number;
  readonly index: number;
  readonly attempt: number;
  /** Of the intent, for a call that must not happen twice. */
  readonly intent?: Intent;
}

/** What the journal holds of one attempt at a call. */
export interface ToolEffectValue extends Omit<AttemptedCall, 'index'> {
  readonly tookMs: number;
}

/** The agent's side of tool calls: what touches the world. */
export interface ToolEffects {
  readonly intend: (live: LiveRun, input: { readonly timeoutMs: number }) => EffectEnd;
  readonly run: (live: LiveRun, input: ToolEffectInput, context: EffectContext) => Promise<EffectEnd>;
  readonly verify: (live: LiveRun, input: ToolEffectInput, context: EffectContext) => Promise<EffectEnd>;
}

/** Work in the background that reports when it is done. */
export type Report = (live: LiveRun, report: BackgroundReport) => void;

/** The effects of one agent's tools. */
export function createToolEffects(parts: AgentParts, onBackground: Report): ToolEffects {
  const { clock, newId } = parts;
  return {
    intend: (live, { timeoutMs }) => {
      return done(issueIntent(live, { token: newId(), nowMs: clock.wallMs(), timeoutMs }));
    },
    run: async (live, input, context) => {
      const call = callAt(live, input.index);
      const tool = toolOf(parts, call);
      if (input.intent !== undefined && !useToken(live, input.intent, clock.wallMs())) {
        if (tool.verify !== undefined) await outlive(input.intent, { clock, signal: context.signal, tool });
        return done(valueOf(foreignIntent(call), { drawn: 0, tookMs: 0 }));
      }
      const startMs = clock.monotonicMs();
      const working: Working = { call, tool, input, context, onBackground, spent: undefined, works: 0 };
      const ran = await runHeld(parts, live, working);
      const ended = parts.store === undefined ? ran : await keepLong(parts.store, live, { end: ran, tool });
      const end = working.spent === undefined ? ended : { ...ended, charge: working.spent };
      const { turn, attempt } = input;
      if (live.watchers.size > 0)
        publish(live, { type: 'tool-finished', turn, attempt, end, callId: end.callId, name: end.name });
      return done(valueOf(end, { drawn: parts.random(), tookMs: clock.monotonicMs() - startMs }));
    },
    verify: async (live, input, context) => {
      const call = callAt(live, input.index);
      const tool = toolOf(parts, call);
      const startMs = clock.monotonicMs();
      const working: Working = { call, tool, input, context, onBackground, spent: undefined, works: 0 };
      const found: VerifiedCall['found'] = await verifyTool(
        toRun(parts, live, working),
        optionsOf(parts, live, working),
      );
      return done({ found, tookMs: clock.monotonicMs() - startMs });
    },
  };
}

/** The longest result that is kept whole. To encode a larger one would hold up everybody else. */
const maxSpilledCharacters = 1_000_000;

/** What is too long to be shown is kept by the store, and the model can read on in it. */
async function keepLong(
  { blobs }: Store,
  live: LiveRun,
  { end, tool }: { readonly end: ToolEnd; readonly tool: Tool },
): Promise<ToolEnd> {
  const { runId, spilled } = live;
  const { end: shown, failure } = await spillEnd(end, {
    blobs: {
      put: async (content, owner) => {
        const hash = await blobs.put(content, owner);
        spilled.add(hash);
        return hash;
      },
    },
    runId,
    maxCharacters: tool.maxResultCharacters,
  });
  if (failure !== undefined) publish(live, { type: 'storage-failed', failure });
  return shown;
}

function done(value: object): EffectEnd {
  return { type: 'done', value: value as Json }; // Ends, intents and findings are JSON by their types.
}

function valueOf(end: ToolEnd, { drawn, tookMs }: Omit<ToolEffectValue, 'end'>): ToolEffectValue {
  return { end, drawn, tookMs };
}

function callAt(live: LiveRun, index: number): ReadyCall {
  const { phase } = live.state as RunState; // A tool is only run by a run that has started.
  const calls: readonly CallState[] = phase.type === 'running-tools' ? phase.calls : [];
  return calls[index]?.call as ReadyCall; // The machine names only calls that are ready.
}

function toolOf({ registry }: AgentParts, { name }: ReadyCall): Tool {
  return registry.get(name) as Tool; // Prepared calls are of tools that exist.
}

interface Working {
  readonly call: ReadyCall;
  readonly tool: Tool;
  readonly input: ToolEffectInput;
  readonly context: EffectContext;
  readonly onBackground: Report;
  /** What `assist` has used up so far, also where it came to nothing. */
  spent: Ledger | undefined;
  /** Works that it has left in the background. */
  works: number;
}

/** Waits for a place and for what it declares to need, then runs. */
async function runHeld(parts: AgentParts, live: LiveRun, working: Working): Promise<ToolEnd> {
  const { call, tool, input, context } = working;
  const { signal } = context;
  const run = toRun(parts, live, working);
  try {
    const entering = live.slots.enter({ signal });
    const leave = entering instanceof Promise ? await entering : entering;
    try {
      const resource = resourceOf(tool, run.input);
      const release = resource === undefined ? undefined : await live.locks.acquire([resource], { signal });
      try {
        if (live.watchers.size > 0) publish(live, startOf(call, input, run.input));
        return await runTool(run, optionsOf(parts, live, working));
      } finally {
        release?.();
      }
    } finally {
      leave();
    }
  } catch (error) {
    // Only the waits reject, and only because the run was cancelled: the tool has not been started.
    if (!signal.aborted) throw error;
    return notStarted(call);
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

function resourceOf({ resource }: Tool, input: Json): string | undefined {
  if (typeof resource !== 'function') return resource;
  try {
    return resource(input);
  } catch {
    return undefined; // What it needs is unknown then; it runs as if it needed nothing, and its own code will say more.
  }
}

function toRun({ config }: AgentParts, live: LiveRun, { call, tool, input }: Working): ToolRun {
  const { runId } = live;
  const { turn, index, attempt } = input;
  const elapsedMs = live.state?.elapsedMs ?? 0;
  return {
    tool,
    callId: call.callId,
    input: live.inputs?.get(index) ?? call.input,
    runId,
    turn,
    attempt,
    // Of the call's place in the run, so that it is the same for every attempt and after every crash.
    idempotencyKey: () => hashText(`${runId}/${turn}/${index}/${tool.name}`),
    leftMs: Math.max(1, config.limits.timeoutMs - elapsedMs),
  };
}

function optionsOf(parts: AgentParts, live: LiveRun, working: Working): ToolRunOptions {
  const { call, input, context, onBackground } = working;
  const { callId, name } = call;
  const { turn } = input;
  return {
    ...(parts.store === undefined ? undefined : { maxSpilledCharacters }),
    clock: parts.clock,
    signal: context.signal,
    onProgress: (progress) => publish(live, { type: 'tool-progress', turn, callId, name, ...progress }),
    onLate: (late) => publish(live, { type: 'tool-late', turn, callId, name, ...late }),
    assist: (prompt, schema, signal) => {
      const onSpent = (ledger: Ledger): void => {
        working.spent = working.spent === undefined ? ledger : addLedgers(working.spent, ledger);
      };
      return assist(parts, live, { prompt, schema, signal, onSpent });
    },
    onBackground: (label, work) => {
      working.works += 1;
      const id = `${live.runId}:${turn}:${callId}:${input.attempt}:${working.works}`;
      watchBackground(work, { id, name, label }, (report) => onBackground(live, report));
    },
  };
}
