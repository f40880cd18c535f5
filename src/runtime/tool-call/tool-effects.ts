import type { AttemptedCall, VerifiedCall } from '../../agent/event.ts';
import type { CallState, ReadyCall, RunState } from '../../agent/state.ts';
import type { AskFirstEnd, ToolEnd } from '../../agent/tools/tool-call.ts';
import type { Json } from '../../base/json.ts';
import type { Store } from '../../model/store/store.ts';
import type { Tool } from '../../model/tool.ts';
import { admitCall, askUnfit } from './admit-call.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { BackgroundReport } from './background.ts';
import type { EffectContext, EffectEnd } from '../record/durable.ts';
import { foreignIntent, issueIntent, outlive, useToken } from './intent.ts';
import type { Intent } from './intent.ts';
import { publish } from '../run/live-run.ts';
import { performNodeEffect } from '../children/node-effect.ts';
import type { LiveRun } from '../run/live-run.ts';
import { verifyTool } from './run-tool.ts';
import type { CallEnd } from './run-tool.ts';
import { awaitSchema } from './schema-wait.ts';
import { spillEnd } from '../tool-result/spill-result-end.ts';
import { optionsOf, runHeld, toRun } from './tool-work.ts';
import type { Working } from './tool-work.ts';

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
  /** Without a promise for a tool that ends at once, as many do: each one costs about as much as the whole call. */
  readonly run: (
    live: LiveRun,
    input: ToolEffectInput,
    context: EffectContext,
  ) => Promise<EffectEnd> | EffectEnd;
  readonly verify: (live: LiveRun, input: ToolEffectInput, context: EffectContext) => Promise<EffectEnd>;
}

/** Work in the background that reports when it is done. */
export type Report = (live: LiveRun, report: BackgroundReport) => void;

/** The effects of one agent's tools. */
export function createToolEffects(agent: AgentParts, onBackground: Report): ToolEffects {
  const { clock, newId } = agent;
  return {
    intend: (live, { timeoutMs }) => {
      return done(issueIntent(live, { token: newId(), nowMs: clock.wallMs(), timeoutMs }));
    },
    run: (live, input, context) => {
      const parts = live.parts ?? agent;
      const call = callAt(live, input.index);
      // What may have been done by another process is in doubt, whatever the rules say now.
      const isInDoubt = input.intent !== undefined && !useToken(live, input.intent, clock.wallMs());
      const instead = isInDoubt ? undefined : admitCall(parts, live, { call, index: input.index });
      if (instead !== undefined) return turnAway(live, input, instead);
      const tool = toolOf(parts, call);
      const startMs = clock.monotonicMs();
      const working: Working = { ...newWork, call, tool, input, context, onBackground, startMs };
      // A run of its own never does twice what it has done.
      const isNode = agent.nodes?.has(call.name) === true;
      if (isInDoubt && !isNode) return refuseForeign(parts, input.intent, working);
      return call.asked === undefined ? runCall(agent, live, working) : runChanged(agent, live, working);
    },
    verify: async (live, input, context) => {
      const parts = live.parts ?? agent;
      const call = callAt(live, input.index);
      const tool = toolOf(parts, call);
      const startMs = clock.monotonicMs();
      const working: Working = { ...newWork, call, tool, input, context, onBackground, startMs };
      const found: VerifiedCall['found'] = await verifyTool(
        toRun(parts, live, working),
        optionsOf(parts, live, working),
      );
      return done({ found, tookMs: clock.monotonicMs() - startMs });
    },
  };
}

function runCall(agent: AgentParts, live: LiveRun, working: Working): Promise<EffectEnd> | EffectEnd {
  const { call, tool, input, context } = working;
  // Child agents are those of the agent, whatever tools this run has of its own.
  const node = agent.nodes?.get(call.name);
  if (node !== undefined) return performNodeEffect(agent, live, { node, call, tool, input, context });
  const parts = live.parts ?? agent;
  const ran = runHeld(parts, live, working);
  if (ran instanceof Promise || parts.store !== undefined) return finishLater(parts, live, { working, ran });
  return finish(parts, live, { working, end: ran });
}

/** Arguments that a person wrote are held against the schema of the tool that is there now. */
async function runChanged(agent: AgentParts, live: LiveRun, working: Working): Promise<EffectEnd> {
  const { call, tool, input, context } = working;
  const { clock } = agent;
  const checking = Promise.resolve(tool.parse(call.input));
  const check = await awaitSchema(checking, { clock, signal: context.signal });
  if (check.type === 'valid') return runCall(agent, live, working);
  return turnAway(live, input, askUnfit(live.parts ?? agent, live, { call, issues: check.issues }));
}

const newWork: Pick<Working, 'spent' | 'works' | 'warnings'> = { spent: undefined, works: 0, warnings: 0 };

/** It was not begun: a rule forbids it by now, or a person must be asked first. */
function turnAway(live: LiveRun, { turn, attempt }: ToolEffectInput, end: ToolEnd | AskFirstEnd): EffectEnd {
  if (end.type !== 'ask-first')
    publish(live, { type: 'tool-finished', turn, attempt, end, callId: end.callId, name: end.name });
  return done({ end, drawn: 0, tookMs: 0 } satisfies ToolEffectValue);
}

/** It was begun in a previous process of the run, and may have been done there. */
async function refuseForeign(
  { clock }: AgentParts,
  intent: Intent,
  { call, tool, context }: Working,
): Promise<EffectEnd> {
  if (tool.verify !== undefined) await outlive(intent, { clock, signal: context.signal, tool });
  return done(valueOf(foreignIntent(call), { drawn: 0, tookMs: 0 }));
}

async function finishLater(
  parts: AgentParts,
  live: LiveRun,
  { working, ran }: { readonly working: Working; readonly ran: CallEnd | Promise<CallEnd> },
): Promise<EffectEnd> {
  const { tool } = working;
  const end = ran instanceof Promise ? await ran : ran;
  const isKept = parts.store === undefined || end.type === 'asks';
  const kept = isKept ? end : await keepLong(parts.store, live, { end, tool });
  return finish(parts, live, { working, end: kept });
}

function finish(
  { random, clock }: AgentParts,
  live: LiveRun,
  { working, end: ended }: { readonly working: Working; readonly end: CallEnd },
): EffectEnd {
  const { input, spent, startMs } = working;
  const { turn, attempt } = input;
  const end = spent === undefined ? ended : { ...ended, charge: spent };
  if (live.watchers.size > 0 && end.type !== 'asks')
    publish(live, { type: 'tool-finished', turn, attempt, end, callId: end.callId, name: end.name });
  return done(valueOf(end, { drawn: random(), tookMs: clock.monotonicMs() - startMs }));
}

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

function valueOf(end: CallEnd, { drawn, tookMs }: Omit<ToolEffectValue, 'end'>): ToolEffectValue {
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
