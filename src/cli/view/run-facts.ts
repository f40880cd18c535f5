import type { RunEvent } from '../../agent/run-event.ts';
import type { Failure } from '../../errors/failure.ts';
import { callSummary } from './call-summary.ts';

/** What a run is doing now, as far as its events tell. It changes in place. */
export interface RunFacts {
  runId: string;
  startedAtMs: number | undefined;
  /** `openai:gpt-5.4`; empty before the first attempt. */
  model: string;
  turn: number;
  attempt: number;
  tokens: number;
  /** As far as prices are known. */
  costUsd: number | undefined;
  recoveries: number;
  /** Its end has been shown: what comes after it is on record, and of no use to the reader. */
  isOver: boolean;
  readonly tools: Map<string, RunningTool>;
  /** Of the runs below that are at work, by their names. */
  readonly below: Map<string, RunFacts>;
  wait: Wait | undefined;
  /** The model is under way and has said nothing yet, or thinks. */
  silence: 'waiting' | 'thinking' | undefined;
}

export interface RunningTool {
  /** The tool and what it is about, on one line and safe to show. */
  readonly call: string;
  readonly startedAtMs: number;
  readonly progress?: { readonly message: string; readonly done?: number; readonly total?: number };
}

/** A wait before the next attempt. */
export interface Wait {
  readonly untilMs: number;
  readonly failure: Failure;
  readonly nextAttempt: number;
}

export function createRunFacts(): RunFacts {
  return {
    runId: '',
    startedAtMs: undefined,
    model: '',
    turn: 0,
    attempt: 0,
    tokens: 0,
    costUsd: undefined,
    recoveries: 0,
    isOver: false,
    tools: new Map(),
    below: new Map(),
    wait: undefined,
    silence: undefined,
  };
}

/** Takes an event in. `nowMs` is monotonic. */
export function noteEvent(facts: RunFacts, event: RunEvent, nowMs: number): void {
  switch (event.type) {
    case 'run-started':
    case 'run-resumed':
      facts.runId = event.runId;
      facts.startedAtMs ??= nowMs;
      return;
    case 'turn-started':
      facts.turn = event.turn;
      facts.attempt = 0;
      facts.wait = undefined;
      return;
    case 'attempt-started':
      facts.model = modelName(event);
      facts.attempt = event.attempt;
      facts.wait = undefined;
      facts.silence = 'waiting';
      return;
    case 'reasoning-delta':
      facts.wait = undefined;
      facts.silence = 'thinking';
      return;
    case 'text-delta':
      facts.wait = undefined;
      facts.silence = undefined;
      return;
    case 'model-finished':
      facts.silence = undefined;
      facts.tokens += (event.inputTokens ?? 0) + (event.outputTokens ?? 0);
      if (event.costUsd !== undefined) facts.costUsd = (facts.costUsd ?? 0) + event.costUsd;
      return;
    case 'failure':
      facts.silence = undefined;
      return;
    case 'recovery':
      noteRecovery(facts, event, nowMs);
      return;
    case 'child-event':
      noteBelow(facts, event, nowMs);
      return;
    default:
      noteTools(facts, event, nowMs);
  }
}

/** What a run below uses up counts here; what it says and does is its own. */
function noteBelow(
  facts: RunFacts,
  { runId, event }: Extract<RunEvent, { type: 'child-event' }>,
  nowMs: number,
): void {
  const own = factsBelow(facts, runId);
  const { tokens, costUsd, recoveries } = own;
  noteEvent(own, event, nowMs);
  facts.tokens += own.tokens - tokens;
  facts.recoveries += own.recoveries - recoveries;
  if (own.costUsd !== undefined) facts.costUsd = (facts.costUsd ?? 0) + own.costUsd - (costUsd ?? 0);
  if (event.type === 'run-finished' || event.type === 'run-suspended') facts.below.delete(runId);
  else facts.below.set(runId, own);
}

/** Of a run below; as of one that has just begun where nothing is known of it. */
export function factsBelow({ below }: RunFacts, runId: string): RunFacts {
  return below.get(runId) ?? createRunFacts();
}

/** As people name a model on the command line. */
export function modelName({
  provider,
  model,
}: {
  readonly provider: string;
  readonly model: string;
}): string {
  return `${provider}:${model}`;
}

function noteRecovery(
  facts: RunFacts,
  { failure, recovery, delayMs }: Extract<RunEvent, { type: 'recovery' }>,
  nowMs: number,
): void {
  if (recovery !== 'fail' && recovery !== 'stop') facts.recoveries += 1;
  if (delayMs === undefined) return;
  facts.wait = { untilMs: nowMs + delayMs, failure, nextAttempt: facts.attempt + 1 };
}

function noteTools(facts: RunFacts, event: RunEvent, nowMs: number): void {
  const { tools } = facts;
  if (event.type === 'tool-started') {
    facts.wait = undefined;
    tools.set(event.callId, { call: callSummary(event.name, event.input), startedAtMs: nowMs });
  }
  if (event.type === 'tool-progress') {
    const tool = tools.get(event.callId);
    const { message, done, total } = event;
    const counts = done === undefined || total === undefined ? {} : { done, total };
    if (tool !== undefined) tools.set(event.callId, { ...tool, progress: { message, ...counts } });
  }
  if (event.type === 'tool-finished') tools.delete(event.callId);
  if (event.type === 'run-finished') facts.isOver = true;
  if (event.type === 'run-finished' || event.type === 'run-suspended') {
    tools.clear();
    facts.wait = undefined;
    facts.silence = undefined;
  }
}
