import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { createFailure } from '../errors/failure.ts';
import type { FailureDetails } from '../errors/failure.ts';
import type { FailureCode } from '../errors/codes.ts';
import type { Capabilities } from '../model/capabilities.ts';
import { findHistoryProblems } from '../model/check-history.ts';
import type { AssistantPart, Message } from '../model/message.ts';
import { emptyPartial } from '../model/model.ts';
import type { AttemptOptions, Model, ModelResponse, PartialResult } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { ModelFault, PlannedTurn } from './plan.ts';
import { sendPlanned } from './sim-sendings.ts';
import { reach } from './sim-process.ts';
import type { SimProcess } from './sim-process.ts';
import { never, report, tell, turnRecord } from './world.ts';

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

/** A model that follows the plan: what it says next follows from the conversation alone, whoever sends it. */
export function simModel(process: SimProcess, index: number): Model {
  const name = `model-${index}`;
  return {
    provider: 'sim',
    name,
    quotaKey: name,
    capabilities,
    call: (request, options = {}) => answer(process, request, { options, name }),
  };
}

interface Asked {
  readonly options: AttemptOptions;
  readonly name: string;
}

async function answer(
  process: SimProcess,
  request: ModelRequest,
  { options, name }: Asked,
): Promise<ModelResponse> {
  const { world } = process;
  if (reach(process, 'before model call')) return never();
  const turn = request.messages.filter(({ role }) => role === 'tool').length;
  checkRequest(process, request);
  tell(world, `${name} is asked: turn ${turn}`);
  if (reach(process, 'during model call')) return never();
  sendPlanned(process, 'model');
  const { turns } = world.plan;
  const planned: PlannedTurn = turns[Math.min(turn, turns.length - 1)] ?? lastTurn;
  if (planned.delayMs > 0 && !(await wait(process.clock, planned.delayMs, options.signal))) return cancelled;
  const response = nextResponse(process, request, { turn, planned });
  tell(
    world,
    `${name} answers: ${response.type === 'failure' ? response.failure.code : response.result.text}`,
  );
  return reach(process, 'after model call') ? never() : response;
}

const lastTurn: PlannedTurn = { faults: [], delayMs: 0, calls: [] };

function checkRequest(process: SimProcess, { messages }: ModelRequest): void {
  const { world } = process;
  // A message that somebody sends begins a turn as well.
  const turn = messages.filter(({ role }) => role === 'tool' || role === 'user').length;
  const { model, promised } = world;
  process.sent += 1;
  model.turn = turn;
  turnRecord(world, turn).requests += 1;
  if (world.isOver) report(world, 'end-changed', 'A model was asked by a run that had ended');
  if (promised.isCancelled)
    report(world, 'acknowledged-lost', 'A model was asked after it was on record that the run is cancelled');
  const [problem] = findHistoryProblems(messages);
  if (problem !== undefined)
    report(world, 'history-invalid', `In the conversation of turn ${turn}: ${problem}`);
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
  readonly turn: number;
  readonly planned: PlannedTurn;
}

function nextResponse({ world }: SimProcess, request: ModelRequest, { turn, planned }: Turn): ModelResponse {
  const { faults } = world.model;
  const given = faults.get(turn) ?? 0;
  const fault = planned.faults[given];
  if (fault !== undefined) {
    faults.set(turn, given + 1);
    return faultResponse(fault);
  }
  // A last turn at a limit has no tools.
  if (planned.calls.length === 0 || request.tools === undefined) return spoken(request.messages);
  const calls = planned.calls.map(({ callId, tool }): AssistantPart => ({
    type: 'tool-call',
    callId,
    name: tool,
    argumentsText: JSON.stringify({ call: callId }),
  }));
  return success([...(turn === 0 ? [{ type: 'text' as const, text: 'Let me see.' }] : []), ...calls]);
}

const whole = 'All of it is done, as you wished.';
const half = 'All of it is';

/** Where its answer broke off, a model goes on from there. */
function spoken(messages: readonly Message[]): ModelResponse {
  const last = messages.at(-1);
  const text = last?.role === 'assistant' ? whole.slice(half.length) : whole;
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
