import { assert } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import { changeState } from '../change-state.ts';
import type { Moved } from '../moved.ts';
import { told } from '../moved.ts';
import type { RunEvent } from '../run-event.ts';
import type { Provenance } from './provenance.ts';
import type { CallRequest, PersonRequest } from '../run-outcome.ts';
import type { CallState, Phase, RunningTools, RunState } from '../state.ts';

/** The phase in which a person is asked. */
export type Asking = Extract<Phase, { type: 'asking' }>;

type QuestionRequest = Extract<PersonRequest, { type: 'question' }>;

type Open = Exclude<CallState, { type: 'done' }>;

interface Question {
  readonly index: number;
  readonly events: readonly RunEvent[];
  /** Where the run came from, if it did; that of the call by default. */
  readonly provenance?: Provenance | undefined;
}

/** Asks a person about one call: whether it may run, whether it happened, or what its tool wants to know. */
export function askAbout(
  state: RunState,
  tools: RunningTools,
  { index, events, provenance }: Question,
): Moved {
  const asked = tools.calls[index];
  assert(asked !== undefined && asked.type !== 'done', `There is nothing to ask about call ${index}`);
  const from = provenance ?? asked.call.provenance;
  const bare = requestOf(state, asked, index);
  const { warning } = asked.call;
  const request: PersonRequest =
    bare.type === 'question' ? bare : { ...bare, ...defined({ warning, provenance: from }) };
  const phase: Asking = { type: 'asking', tools, index, request };
  const tellings = [...events, ...doubtOf(state, asked), { type: 'approval-requested', request } as const];
  return { state: changeState(state, { phase }), actions: told(tellings, { type: 'ask-person', request }) };
}

function requestOf(state: RunState, asked: Open, index: number): CallRequest | QuestionRequest {
  const { call } = asked;
  const { input, hash, name: tool, replies = [] } = call;
  const place = `${state.runId}:${state.turn}:${index}`;
  if (asked.type === 'to-ask' && asked.question !== undefined) {
    const { question } = asked.question;
    const why = `The tool "${tool}" needs to know this`;
    return { type: 'question', id: `${place}:question:${replies.length}`, question, why };
  }
  if (asked.type === 'in-doubt') {
    const why = asked.end.failure?.message ?? `It is unknown how the call of "${tool}" ended`;
    return { type: 'in-doubt', id: `${place}:in-doubt:${asked.attempts.length}`, tool, input, hash, why };
  }
  const request: CallRequest = {
    type: 'approval',
    id: `${place}:approval`,
    tool,
    input,
    hash,
    why: call.why ?? `The tool "${tool}" asks before it runs`,
    expiresAt: state.wallMs + state.config.limits.approvalTimeoutMs,
  };
  return call.isRepaired === true ? { ...request, isRepaired: true } : request;
}

function doubtOf({ turn }: RunState, asked: Open): readonly RunEvent[] {
  if (asked.type !== 'in-doubt' || asked.end.failure === undefined) return [];
  const { failure } = asked.end;
  const reason = 'only a person can say whether it happened';
  return [{ type: 'recovery', turn, failure, recovery: 'ask-person', reason }];
}
