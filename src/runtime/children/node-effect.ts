import { openTools } from '../../agent/tools/cancel.ts';
import { isForeign } from '../../agent/approval/provenance.ts';
import type { CallAnswer, ReadyCall, RunState } from '../../agent/state.ts';
import type { ToolEnd, WaitingEnd } from '../../agent/tools/tool-call.ts';
import { fingerprint } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import type { Tool } from '../../model/tool.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { EffectContext, EffectEnd } from '../record/durable.ts';
import { createFamily } from '../run/family.ts';
import { countBefore } from '../run/family-budget.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import type { Node, NodeEnd } from './node.ts';
import { createSlots } from '../tool-call/slots.ts';
import type { ToolEffectInput, ToolEffectValue } from '../tool-call/tool-effects.ts';
import { wordsForModel } from '../tool-call/tool-failures.ts';

interface NodeEffect {
  readonly node: Node;
  readonly call: ReadyCall;
  readonly tool: Tool;
  readonly input: ToolEffectInput;
  readonly context: EffectContext;
}

/** One attempt at a call that is a run of its own. */
export async function performNodeEffect(
  parts: AgentParts,
  live: LiveRun,
  effect: NodeEffect,
): Promise<EffectEnd> {
  const { call, input, context } = effect;
  const { signal } = context;
  const startMs = parts.clock.monotonicMs();
  live.slots ??= createSlots(live.maxConcurrentTools);
  const entering = live.slots.enter({ signal });
  const leave = entering instanceof Promise ? await entering : entering;
  try {
    const { callId, name } = call;
    const { turn, attempt } = input;
    publish(live, { type: 'tool-started', turn, callId, name, input: call.input, attempt });
    let ended: NodeEnd;
    // Awaited here and not in a function of its own, which would cost a promise more.
    try {
      ended = await perform(parts, live, effect);
    } catch (error) {
      if (signal.aborted) throw error;
      ended = { type: 'failed', failure: classifyFailure(error, 'flow') };
    }
    const tookMs = parts.clock.monotonicMs() - startMs;
    const end = endOf(effect, ended, Math.round(tookMs));
    if (end.type !== 'waiting') publish(live, { type: 'tool-finished', turn, attempt, end, callId, name });
    const value: ToolEffectValue = { end, drawn: parts.random(), tookMs };
    return { type: 'done', value: value as unknown as Json }; // Ends are JSON.
  } finally {
    leave();
  }
}

function perform(
  parts: AgentParts,
  live: LiveRun,
  { node, call, tool, input, context }: NodeEffect,
): NodeEnd | Promise<NodeEnd> {
  const state = live.state as RunState; // Only a run that has begun calls anything.
  const { limits } = state.config;
  live.family ??= createFamily(limits);
  countBefore(live.family, state);
  const runLeftMs = Math.max(1, limits.timeoutMs - state.elapsedMs);
  return node.perform({
    parts,
    state,
    callId: call.callId,
    input: call.input,
    attempt: input.attempt,
    answer: answerAt(live, input.index),
    signal: context.signal,
    leftMs: Math.min(tool.timeoutMs, runLeftMs),
    family: live.family,
    depth: live.depth,
    onForgotten: (forget) => void (live.below ??= []).push(forget),
    tell: (runId, event) => publish(live, { type: 'child-event', node: call.name, runId, event }),
  });
}

/** What was said here; an answer that came with the record of a run from elsewhere is none. */
function answerAt({ state, provenance }: LiveRun, index: number): CallAnswer | undefined {
  const call = state?.phase.type === 'running-tools' ? state.phase.calls[index] : undefined;
  const answer = call === undefined || call.type === 'done' ? undefined : call.answer;
  return answer === undefined || isForeign(provenance, answer) ? undefined : answer;
}

function endOf(
  { call, tool, context }: NodeEffect,
  ended: NodeEnd,
  durationMs: number,
): ToolEnd | WaitingEnd {
  const { callId, name } = call;
  const child = ended.child === undefined ? {} : { child: ended.child };
  if (ended.type === 'waiting') return { callId, name, type: 'waiting', wait: ended.wait, ...child };
  if (ended.type === 'ok') {
    const { content } = ended;
    return { callId, name, type: 'ok', content, resultHash: fingerprint(content), durationMs, ...child };
  }
  const { failure } = ended;
  const content = wordsForModel(tool, failure);
  // A cancelled run has interrupted it: that says nothing about the node.
  const isBrokenOff = failure.code === 'CANCELLED' && context.signal.aborted;
  return {
    callId,
    name,
    type: isBrokenOff ? 'denied' : 'failed',
    content,
    failure,
    resultHash: fingerprint(content),
    durationMs,
    ...child,
  };
}

/** The run ends: what waits for it below waits in vain. What cannot be delivered is left for the next process that finds it. */
export async function leaveNodes(parts: AgentParts, state: RunState): Promise<void> {
  const { nodes } = parts;
  if (nodes === undefined) return;
  // What was under way may have been left behind by a process that died.
  const open = (openTools(state.phase)?.calls ?? []).filter((call) => call.type !== 'done');
  await Promise.allSettled(
    open.map(async ({ call }) => {
      const { callId, input, name } = call;
      await nodes.get(name)?.cancel?.({ parts, state, callId, input });
    }),
  );
}
