import type { Action } from '../../agent/action.ts';
import type { Answer, AttemptedCall, SettledCall, BrokenOff, MachineEvent } from '../../agent/event.ts';
import type { HookCall, HookPoint, HookVerdict, Moments } from '../../agent/hooks/hook.ts';
import { messagesOf } from '../../agent/turn/history.ts';
import { decidePermission } from '../../agent/approval/permission.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { CallState, RunState } from '../../agent/state.ts';
import { isEnded } from '../../agent/tools/tool-call.ts';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { fingerprint } from '../../base/hash.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { textOf } from '../../model/message.ts';
import type { AssistantPart } from '../../model/message.ts';
import { checkOutput } from '../check-output.ts';
import { deaf } from '../record/durable.ts';
import { publish } from '../run/live-run.ts';
import { withdrawnNames } from '../model-call/model-turn.ts';
import type { RequestChanges } from '../model-call/model-turn.ts';
import type { Performing } from '../perform.ts';

/** What the hooks before a model came to: changes for the request, or an event in place of the call. */
interface BeforeModel {
  readonly changes?: RequestChanges;
  readonly event?: MachineEvent;
}

/** Once per turn, outside the retries: may change the request, answer in the model's place, or stop the run. */
export async function beforeModel(performing: Performing, turn: number): Promise<BeforeModel> {
  const { parts, live } = performing;
  const messages = messagesOf((live.state as RunState).history); // A model is only called by a run that has started.
  const tools = parts.registry.without(withdrawnNames(live.state as RunState)); // As above.
  const request = { messages, instructions: parts.instructions, tools };
  const verdict = await askHooks(
    performing,
    { point: 'before-model' },
    { ...factsOf(performing, turn), request },
  );
  switch (verdict.type) {
    case 'continue': {
      if (verdict.modifiedBy.length === 0) return {};
      const changed = verdict.moment.request;
      return { changes: { messages: changed.messages, instructions: changed.instructions } };
    }
    case 'skip':
      return { event: await standIn(performing, turn, verdict.standIn.text) };
    default:
      return { event: endOf(verdict) };
  }
}

/** An answer that no model gave: nothing was sent, and listeners get the text all the same. */
async function standIn(
  { parts: { output }, live }: Performing,
  turn: number,
  text: string,
): Promise<MachineEvent> {
  publish(live, { type: 'text-delta', turn, text });
  const answer: Answer = { content: [{ type: 'text', text }], text, toolCalls: [], usage: {} };
  if (output === undefined) return { type: 'answer-given', answer };
  return { type: 'answer-given', answer: { ...answer, check: await checkOutput(text, output) } };
}

/** After a whole answer: may change the text of a final one, or stop the run. */
export async function afterModel(performing: Performing, event: MachineEvent): Promise<MachineEvent> {
  if (event.type !== 'attempt-finished' || event.step.type === 'failure') return event;
  const { step } = event;
  const { text, toolCalls, usage } = step.value;
  const turn = performing.live.state?.turn ?? 0;
  const moment = { ...factsOf(performing, turn), result: { text, toolCalls, usage } };
  const verdict = await askHooks(performing, { point: 'after-model' }, moment);
  // What was shown of an answer that may not be one is taken back; what it used up counts.
  if (verdict.type !== 'continue') {
    if (text !== '') publish(performing.live, { type: 'text-retracted', turn, keep: 0 });
    return { ...endOf(verdict), step };
  }
  if (verdict.modifiedBy.length === 0 || toolCalls.length > 0) return event;
  const value = await reworded(performing, turn, { answer: step.value, text: verdict.moment.result.text });
  return { ...event, step: { ...step, value } };
}

/** The answer with another text: shown again, and its form checked again. */
async function reworded(
  { parts: { output }, live }: Performing,
  turn: number,
  { answer, text }: { readonly answer: Answer; readonly text: string },
): Promise<Answer> {
  const { phase } = live.state as RunState; // Only a run that is calling a model gets here.
  const base = phase.type === 'calling-model' ? phase.base : '';
  publish(live, { type: 'text-retracted', turn, keep: base.length });
  publish(live, { type: 'text-delta', turn, text });
  const value = { ...answer, ...withText(answer.content, text) };
  return output === undefined ? value : { ...value, check: await checkOutput(base + text, output) };
}

function withText(
  content: readonly AssistantPart[],
  text: string,
): { content: readonly AssistantPart[]; text: string } {
  const kept = content.filter((part) => part.type !== 'text');
  const all: readonly AssistantPart[] = [...kept, { type: 'text', text }];
  return { content: all, text: textOf(all) };
}

type Calls = Extract<Action, { type: 'run-tools' }>['calls'];

/** May change an input, put a result in the call's place, or deny it. Side by side, joined in order. */
export async function beforeTools(
  performing: Performing,
  calls: Calls,
): Promise<ReadonlyMap<number, SettledCall>> {
  const { live } = performing;
  const settled = new Map<number, SettledCall>();
  // Hooks stand outside the retries: what was decided for the first attempt holds for the others.
  const first = calls.filter(({ attempt }) => attempt === 1);
  const verdicts = await Promise.all(first.map(({ index }) => askBefore(performing, index)));
  for (const [place, verdict] of verdicts.entries()) {
    const index = first[place]?.index ?? 0;
    const call = callAt(performing, index);
    if (verdict === undefined || call === undefined) continue;
    if (verdict.type === 'continue') {
      if (verdict.modifiedBy.length === 0) continue;
      if (isApproved(performing, index)) {
        settled.set(index, { index, end: refusedBy(call, changedAfterYes(verdict.modifiedBy)), drawn: 0 });
        continue;
      }
      const forbidden = forbiddenBy(performing, verdict.moment.call);
      if (forbidden !== undefined) {
        settled.set(index, { index, end: refusedBy(call, forbidden), drawn: 0 });
        continue;
      }
      live.inputs ??= new Map();
      live.inputs.set(index, verdict.moment.call.input);
      continue;
    }
    const end = verdict.type === 'skip' ? stoodIn(call, verdict.standIn.content) : refusedBy(call, verdict);
    settled.set(index, { index, end, drawn: 0 });
  }
  return settled;
}

/** Whether a person said yes to the arguments as they are. */
function isApproved({ live }: Performing, index: number): boolean {
  const { phase } = live.state as RunState; // Tools belong to a run that has started.
  const call = phase.type === 'running-tools' ? phase.calls[index]?.call : undefined;
  return call?.type === 'ready' && call.permission === 'ask';
}

/** A hook must not make of a call what the rules do not allow, or only after a question. */
function forbiddenBy(
  { parts }: Performing,
  { name, effect, input }: HookCall,
): { readonly type: 'halt'; readonly failure: Failure } | undefined {
  const own = parts.registry.get(name)?.permission ?? 'deny';
  const { permission, why } = decidePermission({ name, effect, permission: own }, input, parts.rules);
  if (permission === 'allow') return undefined;
  const failure = createFailure('PERMISSION_DENIED', {
    origin: 'tool',
    message: `The call of "${name}", as a hook changed it, is not allowed by itself: ${why}`,
    sideEffect: 'none',
    context: { tool: name },
  });
  return { type: 'halt', failure };
}

function changedAfterYes(hooks: readonly string[]): { readonly type: 'failed'; readonly failure: Failure } {
  const failure = createFailure('HOOK_FAILED', {
    origin: 'hook',
    message: `The hook ${hooks.join(', ')} changed the arguments after a person approved them, so the call was not run`,
    sideEffect: 'none',
    hint: 'Leave calls that need approval as they are, or deny them with a guardrail.',
  });
  return { type: 'failed', failure };
}

function askBefore(performing: Performing, index: number): Promise<HookVerdict<'before-tool'> | undefined> {
  const call = callAt(performing, index);
  const turn = performing.live.state?.turn ?? 0;
  if (call === undefined) return Promise.resolve(undefined);
  return askHooks(performing, { point: 'before-tool', index }, { ...factsOf(performing, turn), call });
}

/** May change what the model reads of a result, or deny it. */
export async function afterTools(
  performing: Performing,
  ends: readonly AttemptedCall[],
): Promise<readonly AttemptedCall[]> {
  const turn = performing.live.state?.turn ?? 0;
  const verdicts = await Promise.all(
    ends.map(({ index, end }) => {
      const call = callAt(performing, index);
      // What waits has no end yet.
      if (call === undefined || !isEnded(end)) return Promise.resolve(undefined);
      const moment = { ...factsOf(performing, turn), call, end };
      return askHooks(performing, { point: 'after-tool', index }, moment);
    }),
  );
  return ends.map((attempted, place): AttemptedCall => {
    const verdict = verdicts[place];
    const call = callAt(performing, attempted.index);
    if (verdict === undefined || call === undefined) return attempted;
    if (verdict.type === 'aborted') return attempted;
    if (verdict.type !== 'continue') return { ...attempted, end: withheld(refusedBy(call, verdict)) };
    if (verdict.modifiedBy.length === 0) return attempted;
    const { end } = verdict.moment;
    return { ...attempted, end: { ...end, resultHash: hashOf(end.content) } };
  });
}

/** Before a person is asked: a guardrail may say no in his place. */
export async function aroundAsking(
  performing: Performing,
  request: PersonRequest,
): Promise<MachineEvent | undefined> {
  const { live } = performing;
  const turn = live.state?.turn ?? 0;
  const verdict = await askHooks(
    performing,
    { point: 'approval' },
    { ...factsOf(performing, turn), request },
  );
  if (verdict.type === 'continue') return undefined;
  if (verdict.type === 'aborted') return { type: 'cancelled' };
  const { hook, failure } = verdict;
  // The call is denied, and nothing else would say that it was by a defect.
  if (failure.code === 'HOOK_FAILED')
    publish(live, { type: 'hook-failed', hook, point: 'approval', failure });
  const answer = { given: true, value: { approved: false, reason: failure.message } } as const;
  return { type: 'person-answered', answer, wallMs: live.state?.wallMs ?? 0 };
}

function factsOf({ parts, live }: Performing, turn: number): { runId: string; agent: string; turn: number } {
  return { runId: live.runId, agent: parts.name, turn };
}

/** What a hook is asked stays outside the journal; what it answered is in it. */
export async function askHooks<Point extends HookPoint>(
  { durable, live }: Performing,
  { point, index = 0 }: { readonly point: Point; readonly index?: number },
  moment: Moments[Point],
): Promise<HookVerdict<Point>> {
  live.moments.set(`${point}:${index}`, moment);
  const outcome = await durable.call('hook', { point, index }, deaf);
  if (outcome.type === 'failed') return { type: 'failed', hook: point, failure: outcome.failure };
  const verdict = outcome.value as unknown as HookVerdict<Point>; // The one form of its value.
  // What was not changed is not recorded.
  return verdict.type === 'continue' && verdict.modifiedBy.length === 0 ? { ...verdict, moment } : verdict;
}

/** What ends the run: a guardrail's no, a transformer's failure, or a cancel request. */
export function endOf(verdict: { readonly type: string; readonly failure?: Failure }): BrokenOff {
  if (verdict.failure === undefined) return { type: 'cancelled' };
  return { type: verdict.type === 'halt' ? 'halted' : 'broken', failure: verdict.failure };
}

function callAt({ live }: Performing, index: number): HookCall | undefined {
  const { phase } = live.state as RunState; // Tools belong to a run that has started.
  const calls: readonly CallState[] = phase.type === 'running-tools' ? phase.calls : [];
  const call = calls[index]?.call;
  if (call?.type !== 'ready') return undefined;
  const { callId, name, input, effect } = call;
  return { callId, name, input: live.inputs?.get(index) ?? input, effect };
}

function stoodIn({ callId, name }: HookCall, content: ToolEnd['content']): ToolEnd {
  return { callId, name, type: 'ok', content, resultHash: hashOf(content), durationMs: 0 };
}

/** Only what is reported to the model was held back: the tool has run. */
function withheld(end: ToolEnd): ToolEnd {
  const { failure } = end;
  return failure === undefined
    ? end
    : { ...end, failure: createFailure(failure.code, { ...failure, sideEffect: 'certain' }) };
}

function hashOf(content: ToolEnd['content']): string {
  return fingerprint(typeof content === 'string' ? content : JSON.stringify(content));
}

function refusedBy(
  { callId, name }: HookCall,
  verdict: { readonly type: string; readonly failure?: Failure },
): ToolEnd {
  const { failure } = verdict;
  const type = verdict.type === 'halt' ? 'denied' : 'failed';
  const content = failure === undefined ? 'This call was interrupted.' : renderFailure(failure, 'model');
  const end = { callId, name, type, content, resultHash: `hook:${type}`, durationMs: 0 } as const;
  return failure === undefined ? end : { ...end, failure };
}
