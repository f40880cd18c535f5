import { createFailure } from '../../src/errors/failure.ts';
import type { Failure } from '../../src/errors/failure.ts';
import { classifyProviderFailure } from '../../src/errors/classify-provider-failure.ts';
import { createAssembly } from '../../src/model/assembly.ts';
import type { Capabilities } from '../../src/model/capabilities.ts';
import type { Model, ModelResponse } from '../../src/model/model.ts';
import { settle } from '../../src/model/settle.ts';
import type { StreamPart } from '../../src/model/stream-part.ts';

/** One answer of a bare model: a status as a server would give it, a text, or a failure. */
export type Answer =
  | number
  | string
  | { readonly status: number; readonly retryAfter?: string }
  | { readonly failure: Failure; readonly text?: string }
  | { readonly parts: readonly StreamPart[] };

export interface BareModel extends Model {
  readonly requests: readonly { readonly atMs: number; readonly continueFrom?: string }[];
}

const everything: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: true,
  files: true,
  reasoningEffort: true,
  reasoningBudget: true,
  caching: 'automatic',
  sampling: ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'stopSequences', 'seed'],
  continuation: 'none',
};

interface BareOptions {
  readonly name?: string;
  readonly provider?: string;
  readonly quotaKey?: string;
  readonly capabilities?: Partial<Capabilities>;
  /** Where every call is stamped with its time. */
  readonly now?: () => number;
}

/** A model without sockets, timers or policy: the least that keeps the port's contract. */
export function bareModel(
  answers: readonly Answer[] | ((call: number) => Answer),
  options: BareOptions = {},
): BareModel {
  const requests: { atMs: number; continueFrom?: string }[] = [];
  const { name = 'bare-1', provider = 'bare', now = () => 0 } = options;
  return {
    provider,
    name,
    quotaKey: options.quotaKey ?? `${provider}/test`,
    capabilities: { ...everything, ...options.capabilities },
    requests,
    call: async (request, { onPart } = {}) => {
      const index = requests.length;
      requests.push({
        atMs: now(),
        ...(request.continueFrom === undefined ? {} : { continueFrom: request.continueFrom }),
      });
      const answer = typeof answers === 'function' ? answers(index) : answers[index];
      if (answer === undefined) throw new Error(`The script has no answer for call ${index + 1}`);
      return play(answer, { provider, name, onPart });
    },
  };
}

interface Stage {
  readonly provider: string;
  readonly name: string;
  readonly onPart: ((part: StreamPart) => void | Promise<void>) | undefined;
}

async function play(answer: Answer, { provider, name, onPart }: Stage): Promise<ModelResponse> {
  const { parts, failure } = read(answer, { provider, name });
  const assembly = createAssembly();
  for (const part of parts) {
    assembly.push(part);
    await onPart?.(part);
  }
  return settle(assembly.read(), { provider, model: name, failure });
}

function read(
  answer: Answer,
  { provider, name }: { readonly provider: string; readonly name: string },
): { readonly parts: readonly StreamPart[]; readonly failure?: Failure } {
  if (typeof answer === 'string') return { parts: whole(answer) };
  if (answer === 200) return { parts: whole('fine') };
  if (typeof answer === 'number')
    return { parts: [], failure: statusFailure({ status: answer }, { provider, name }) };
  if ('parts' in answer) return { parts: answer.parts };
  if ('status' in answer) return { parts: [], failure: statusFailure(answer, { provider, name }) };
  const text = answer.text ?? '';
  return { parts: text === '' ? [] : [{ type: 'text-delta', text }], failure: answer.failure };
}

function whole(text: string): readonly StreamPart[] {
  return [
    { type: 'started' },
    { type: 'text-delta', text },
    { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } },
    { type: 'finished', finish: { reason: 'stop', raw: 'stop' } },
  ];
}

function statusFailure(
  { status, retryAfter }: { readonly status: number; readonly retryAfter?: string },
  { provider, name }: { readonly provider: string; readonly name: string },
): Failure {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return classifyProviderFailure({
    provider,
    model: name,
    status,
    headers,
    body: '',
    now: Date.UTC(2026, 10, 15),
  });
}

/** A stream that broke after some text. */
export function brokenAfter(text: string): Answer {
  const failure = createFailure('STREAM_INTERRUPTED', {
    origin: 'model',
    phase: 'body',
    message: 'It broke off',
  });
  return { failure, text };
}
