import type { QuestionEnd, ToolEnd, ToolQuestion } from '../../agent/tools/tool-call.ts';
import { defined } from '../../base/defined.ts';
import type { Failure } from '../../errors/failure.ts';
import { fingerprint } from '../../base/hash.ts';
import type { EncodedResult } from '../tool-result/encode-result.ts';
import type { ToolCall } from './tool-context.ts';
import { wordsForModel } from './tool-failures.ts';

/** The end of a call that went wrong, reported to the model. */
export function failedEnd(call: ToolCall, failure: Failure): ToolEnd {
  const content = wordsForModel(call.run.tool, failure);
  return createEnd(call, { type: 'failed', content, failure, resultHash: fingerprint(content) });
}

/** The end of a call that came back well. */
export function okEnd(call: ToolCall, encoded: EncodedResult): ToolEnd {
  const { content, resultHash, totalCharacters } = encoded;
  const end = createEnd(
    call,
    totalCharacters === undefined
      ? { type: 'ok', content, resultHash }
      : { type: 'ok', content, resultHash, totalCharacters },
  );
  return call.remembered === undefined ? end : { ...end, remembered: [...call.remembered.values()] };
}

/** The call asks a person, and is made again once they have answered. */
export function questionEnd(call: ToolCall, question: ToolQuestion): QuestionEnd {
  const { charge, remembered, run } = call;
  const durationMs = Math.round(call.options.clock.monotonicMs() - call.startedMs);
  return {
    callId: run.callId,
    name: run.tool.name,
    type: 'asks',
    durationMs,
    ...question,
    ...defined({ charge, remembered: remembered && [...remembered.values()] }),
  };
}

/** The end of a call, with its name and how long it took. */
export function createEnd(call: ToolCall, end: Omit<ToolEnd, 'callId' | 'name' | 'durationMs'>): ToolEnd {
  const { callId, tool } = call.run;
  const durationMs = Math.round(call.options.clock.monotonicMs() - call.startedMs);
  // Not by spreading, for which engines take ten times as long.
  const whole: ToolEnd = Object.assign({ callId, name: tool.name, durationMs }, end);
  return call.charge === undefined ? whole : { ...whole, charge: call.charge };
}
