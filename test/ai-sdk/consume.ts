import { isRecord } from '../../src/base/json.ts';
import type { Failure } from '../../src/errors/failure.ts';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { ResilientPolicy } from '../../src/interop/ai-sdk/resilient-call.ts';
import type { AiSdkRecord } from '../../src/providers/ai-sdk/language-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import type { ScriptedModel } from './scripted-model.ts';

/** What a consumer has in the end. */
export interface Heard {
  readonly text: string;
  /** Thrown, or in an error part. */
  readonly error: unknown;
  readonly result: AiSdkRecord;
  readonly parts: readonly AiSdkRecord[];
}

interface Wish {
  readonly method: 'doStream' | 'doGenerate';
  readonly options?: AiSdkRecord;
}

/** Calls a model and takes all that it gives. */
export async function consume(
  model: Pick<ScriptedModel, 'doStream' | 'doGenerate'>,
  { method, options = {} }: Wish,
): Promise<Heard> {
  try {
    const result = await model[method](options);
    const content = result['content'] as readonly AiSdkRecord[];
    const parts = method === 'doStream' ? await readAll(result) : content;
    const error = parts.find(({ type }) => type === 'error')?.['error'];
    return { text: textOf(parts), error, result, parts };
  } catch (error) {
    return { text: '', error, result: {}, parts: [] };
  }
}

async function readAll({ stream }: AiSdkRecord): Promise<readonly AiSdkRecord[]> {
  const parts: AiSdkRecord[] = [];
  for await (const part of stream as ReadableStream<AiSdkRecord>) parts.push(part);
  return parts;
}

function textOf(parts: readonly AiSdkRecord[]): string {
  const words = parts.map(({ type, delta, text }) => {
    if (type === 'text-delta') return delta;
    return type === 'text' ? text : '';
  });
  return words.join('');
}

/** Rerail's own verdict inside an error for the AI SDK. */
export function failureOf(error: unknown): Failure | undefined {
  const cause = isRecord(error) ? error['cause'] : undefined;
  return RerailError.isInstance(cause) ? cause.failure : undefined;
}

/** Time that a test moves, gates of its own, and no spread of waits. */
export function quiet(clock: SimulatedClock): ResilientPolicy {
  return { clock, gates: createGates({ clock }), random: () => 0.5 };
}
