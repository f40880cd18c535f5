import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { createFailure } from '../errors/failure.ts';
import type { FailureDetails } from '../errors/failure.ts';
import type { FailureCode } from '../errors/codes.ts';
import type { Capabilities } from '../model/capabilities.ts';
import { findHistoryProblems } from '../model/check/check-history.ts';
import { textOf } from '../model/message.ts';
import type { AssistantPart, Message } from '../model/message.ts';
import { emptyPartial } from '../model/model.ts';
import type { AttemptOptions, Model, ModelResponse, PartialResult } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { ModelFault, PlannedTurn } from './plan.ts';
import { passedOn, readScriptNumber } from './plan-family.ts';
import type { Scripted } from './plan-family.ts';
import type { PlanReply } from './sim-plan.ts';
import { sendPlanned } from './sim-sendings.ts';
import { reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { isCancelled, never, report, tell, turnRecord } from './world.ts';
import type { World } from './world.ts';

const capabilities: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: false,
  files: false,
  reasoningEffort: false,
  reasoningBudget: false,
  caching: 'automatic',
  sampling: [],
  continuation: 'prefill',
};

/** Whose model it is, and what it is to do. */
export interface SimModelOf extends Pick<Scripted, 'name' | 'scripts'> {
  readonly index: number;
  /** Of a plan: what it says is an answer to a question. */
  readonly reply?: ((request: ModelRequest) => PlanReply) | undefined;
}

/** A model that follows the plan: what it says next follows from the conversation alone, whoever sends it. */
export function simModel(process: SimProcess, { name: who, scripts, index, reply }: SimModelOf): Model {
  const name = `model-${index}`;
  return {
    provider: 'sim',
    name,
    quotaKey: name,
    capabilities,
    call: (request, options = {}) => answer(process, request, { options, name, who, scripts, reply }),
  };
}

interface Asked extends Pick<SimModelOf, 'scripts' | 'reply'> {
  readonly options: AttemptOptions;
  readonly name: string;
  readonly who: string;
}

async function answer(
  process: SimProcess,
  request: ModelRequest,
  { options, name, who: agent, scripts, reply }: Asked,
): Promise<ModelResponse> {
  const { world } = process;
  if (reach(process, 'before model call')) return never();
  const { script, turn } = placeOf(request.messages);
  const replied = reply?.(request);
  const who = replied === undefined ? agent : `${agent}.${replied.question}`;
  const about: About = { who: `${who}.${script}`, turn: `${who}.${script} turn ${turn}` };
  checkRequest(process, request, about.who);
  tell(world, `${name} is asked: ${about.turn}`);
  if (reach(process, 'during model call')) return never();
  sendPlanned(process, 'model');
  const turns = scripts[script] ?? scripts[0] ?? [];
  const planned: PlannedTurn = turns[Math.min(turn, turns.length - 1)] ?? lastTurn;
  if (planned.delayMs > 0 && !(await wait(process.clock, planned.delayMs, options.signal))) return cancelled;
  const response = nextResponse(process, request, {
    turn: about.turn,
    isFirst: turn === 0,
    planned,
    text: replied?.text,
  });
  tell(
    world,
    `${name} answers: ${response.type === 'failure' ? response.failure.code : response.result.text}`,
  );
  return reach(process, 'after model call') ? never() : response;
}

interface About {
  readonly who: string;
  readonly turn: string;
}

/** Which script is followed, and how far it has come: a conversation that was passed on has the turns of others in it. */
function placeOf(messages: readonly Message[]): { readonly script: number; readonly turn: number } {
  const texts = messages.filter(({ role }) => role === 'user').map(textIn);
  const from = messages.findLastIndex(
    (message) => message.role === 'user' && textIn(message).startsWith(passedOn),
  );
  const turn = messages.slice(from + 1).filter(({ role }) => role === 'tool').length;
  return { script: readScriptNumber(texts), turn };
}

function textIn({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}

const lastTurn: PlannedTurn = { faults: [], delayMs: 0, calls: [] };

function checkRequest(process: SimProcess, { messages }: ModelRequest, who: string): void {
  const { world } = process;
  // A message that somebody sends begins a turn as well.
  const turn = `${who} ${messages.filter(({ role }) => role === 'tool' || role === 'user').length}`;
  const { model } = world;
  process.sent += 1;
  model.latest.set(who, turn);
  turnRecord(world, turn).requests += 1;
  if (world.isOver) report(world, 'end-changed', 'A model was asked by a run that had ended');
  if (isCancelled(world))
    report(world, 'acknowledged-lost', 'A model was asked after it was on record that the run is cancelled');
  checkAnswers(world, messages.at(-1));
  const [problem] = findHistoryProblems(messages);
  if (problem !== undefined)
    report(world, 'history-invalid', `In the conversation of turn ${turn}: ${problem}`);
}

/** A yes is never taken for a no, nor one to another question for an answer. */
function checkAnswers(world: World, message: Message | undefined): void {
  if (message?.role !== 'tool') return;
  for (const { callId, content } of message.content) {
    const wasRefused = typeof content === 'string' && content.includes('It was not run.');
    if (wasRefused && world.calls.get(callId)?.isApproved === true)
      report(
        world,
        'acknowledged-lost',
        `Somebody said yes to the call ${callId}, and it was taken for a no`,
      );
  }
}

/** Waits by the clock. False where nobody wants to wait any more. */
export function wait(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const stopTimer = clock.after(delayMs, () => {
      stopListening();
      resolve(true);
    });
    const stopListening =
      signal === undefined
        ? () => undefined
        : onAbort(signal, () => {
            stopTimer();
            resolve(false);
          });
  });
}

interface Turn {
  readonly turn: string;
  readonly isFirst: boolean;
  readonly text?: string | undefined;
  readonly planned: PlannedTurn;
}

function nextResponse(
  { world }: SimProcess,
  request: ModelRequest,
  { turn, isFirst, planned, text }: Turn,
): ModelResponse {
  const { faults } = world.model;
  const given = faults.get(turn) ?? 0;
  const fault = planned.faults[given];
  if (fault !== undefined) {
    faults.set(turn, given + 1);
    return faultResponse(fault);
  }
  if (text !== undefined) return spoken(request.messages, text);
  // No two answers are alike, as with real models: one that was told and is asked for again is noticed.
  world.model.answers += 1;
  // A last turn at a limit has no tools.
  const { passes = [] } = planned;
  if (planned.calls.length + passes.length === 0 || request.tools === undefined)
    return spoken(request.messages, `${whole} (${world.model.answers})`);
  const calls = planned.calls.map(({ callId, tool }): AssistantPart => ({
    type: 'tool-call',
    callId,
    name: tool,
    argumentsText: JSON.stringify({ call: callId }),
  }));
  const handed = passes.map(({ callId, name, arguments: passed }): AssistantPart => ({
    type: 'tool-call',
    callId,
    name,
    argumentsText: JSON.stringify(passed),
  }));
  return success([...(isFirst ? [{ type: 'text' as const, text: 'Let me see.' }] : []), ...calls, ...handed]);
}

const whole = 'All of it is done, as you wished.';
const half = 'All of it is';

/** Where its answer broke off, a model goes on from there. */
function spoken(messages: readonly Message[], said: string): ModelResponse {
  const last = messages.at(-1);
  const text = last?.role === 'assistant' ? said.slice(half.length) : said;
  return success([{ type: 'text', text }]);
}

const usage = { inputTokens: 10, outputTokens: 5 };

function success(content: readonly AssistantPart[]): ModelResponse {
  const toolCalls = content.filter((part) => part.type === 'tool-call');
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const reason = toolCalls.length > 0 ? 'tool-calls' : 'stop';
  return { type: 'success', result: { content, text, toolCalls, usage, finish: { reason, raw: reason } } };
}

/** What a wait asks for that a process does not wait for. */
const longWaitMs = 120_000;

function faultResponse(fault: ModelFault): ModelResponse {
  if (fault === 'broken-stream') {
    const partial: PartialResult = {
      content: [{ type: 'text', text: half }],
      text: half,
      toolCalls: [],
      usage,
    };
    return failed('STREAM_INTERRUPTED', { phase: 'body' }, partial);
  }
  if (fault === 'overloaded') return failed('OVERLOADED', { phase: 'headers' });
  const retryAfterMs = fault === 'long-wait' ? longWaitMs : 700;
  return failed('RATE_LIMITED', { phase: 'headers', retryAfterMs });
}

function failed(
  code: FailureCode,
  details: Partial<FailureDetails>,
  partial: PartialResult = emptyPartial,
): ModelResponse {
  const failure = createFailure(code, { origin: 'model', message: `The plan says ${code}`, ...details });
  return { type: 'failure', failure, partial };
}

const cancelled: ModelResponse = failed('CANCELLED', { phase: 'headers' });
