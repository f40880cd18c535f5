import type { Random } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import type { FinishReason } from '../model/finish.ts';
import { estimateTokens } from '../providers/simulated/estimate-tokens.ts';
import { createMind } from '../providers/simulated/mind.ts';
import type { MindRequest } from '../providers/simulated/mind.ts';
import { seededId } from './seeded.ts';
import { entryAt } from './slots.ts';
import type { ChaosProtocol, WireAnswer, WireToolCall } from './wire/wire-answer.ts';

/** A tool call in a scripted turn. `argumentsText` is sent as it is, so it need not be JSON. */
export interface ChaosCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, Json>>;
  readonly argumentsText?: string;
  readonly callId?: string;
}

/** One good answer. */
export interface ChaosTurn {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ChaosCall[];
  /** Default: `tool-calls` where there are calls, else `stop`. */
  readonly finish?: FinishReason;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

/**
 * What a good answer is. A script gives one turn for each answer that arrives whole, so that a retried request gets the
 * same turn again; after its end, and without a script, the built-in simulated mind answers.
 */
export type ChaosModel =
  | { readonly script: readonly (string | ChaosTurn)[]; readonly repeat?: boolean }
  | ((request: MindRequest) => string | ChaosTurn);

/** Says what comes next, and hears when it has come. */
export interface Answering {
  readonly next: (request: MindRequest) => ChaosTurn;
  readonly advance: () => void;
}

export function createAnswering(model: ChaosModel | undefined, seed: number): Answering {
  const mind = createMind({ seed });
  let turn = 0;
  return {
    next: (request) => {
      if (typeof model === 'function') return toTurn(model(request));
      const scripted = model === undefined ? undefined : entryAt(model, turn);
      return scripted === undefined ? mind.answer(request) : toTurn(scripted);
    },
    advance: () => {
      turn += 1;
    },
  };
}

function toTurn(turn: string | ChaosTurn): ChaosTurn {
  return typeof turn === 'string' ? { text: turn } : turn;
}

/** What an answer is written with besides its content. */
export interface AnswerFacts {
  readonly protocol: ChaosProtocol;
  readonly model: string;
  readonly sequence: number;
  readonly random: Random;
  readonly chunkCharacters: number;
  readonly wantsStreamUsage: boolean;
}

/** Fixed, so that the same requests get the same bytes. */
const epochS = 1_760_000_000;

/** A turn as an answer that can be written in any protocol. */
export function toWireAnswer(turn: ChaosTurn, facts: AnswerFacts): WireAnswer {
  const { protocol, model, sequence, random, chunkCharacters, wantsStreamUsage } = facts;
  const id = seededId(random, 24);
  const toolCalls = (turn.toolCalls ?? []).map((call): WireToolCall => ({
    callId: call.callId ?? `${callPrefixes[protocol]}${seededId(random, 22)}`,
    name: call.name,
    argumentsText: call.argumentsText ?? JSON.stringify(call.arguments ?? {}),
    isCutOff: false,
  }));
  const usage = turn.usage ?? { inputTokens: 20, outputTokens: countTokens(turn) };
  return {
    id,
    model,
    createdS: epochS + sequence,
    reasoning: turn.reasoning ?? '',
    text: turn.text ?? '',
    refusal: '',
    toolCalls,
    finish: turn.finish ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'),
    rawFinish: undefined,
    usage: { type: 'counted', inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
    chunkCharacters,
    wantsStreamUsage,
  };
}

const callPrefixes = {
  'openai-chat': 'call_',
  'openai-responses': 'call_',
  anthropic: 'toolu_01',
  gemini: '',
} as const satisfies Record<ChaosProtocol, string>;

/** About what a call takes; its arguments are not looked at, so that a bent one counts the same. */
const charactersPerCall = 40;

function countTokens({ text = '', toolCalls = [] }: ChaosTurn): number {
  return estimateTokens(text.length + toolCalls.length * charactersPerCall);
}
