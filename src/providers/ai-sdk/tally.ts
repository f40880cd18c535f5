import { assert } from '../../base/assert.ts';
import type { Failure } from '../../errors/failure.ts';
import { maxAnswerCharacters, maxAnswerParts } from '../answer-bounds.ts';
import { modelFailure, nameOfModel } from './failures.ts';
import type { AiSdkRecord, CheckedModel } from './language-model.ts';
import type { AiSdkFinish } from './read-finish.ts';
import type { ReadPart } from './read-part.ts';

/** How one attempt ended. The finish part is as the model sent it; a failure has one where it came as far as that. */
export type AiSdkOutcome =
  | {
      readonly type: 'success';
      readonly finishPart: AiSdkRecord;
      /** What `doStream` or `doGenerate` returned. */
      readonly result: AiSdkRecord;
    }
  | {
      readonly type: 'failure';
      readonly failure: Failure;
      readonly finishPart?: AiSdkRecord;
    };

/** Keeps count of an answer, so that it has a bound, and makes the attempt's outcome. */
export interface Tally {
  /** The failure where the answer grows beyond all bounds. */
  readonly add: (read: ReadPart) => Failure | undefined;
  /** Keeps the finish part: where there are several, the last one counts. */
  readonly finishWith: (part: AiSdkRecord, finish: AiSdkFinish) => undefined;
  readonly finish: () => AiSdkFinish | undefined;
  readonly finishPart: () => AiSdkRecord | undefined;
  readonly fail: (failure: Failure) => AiSdkOutcome;
  readonly succeed: (result: AiSdkRecord) => AiSdkOutcome;
}

const maxParts = maxAnswerParts;
const maxCharacters = maxAnswerCharacters;

/** Starts with nothing. */
export function createTally(model: CheckedModel): Tally {
  let parts = 0;
  let characters = 0;
  let finished: { readonly part: AiSdkRecord; readonly finish: AiSdkFinish } | undefined;

  function add(read: ReadPart): Failure | undefined {
    parts += 1;
    if (read.type === 'block-delta' || read.type === 'call-delta') characters += read.delta.length;
    if (read.type === 'call') characters += read.input.length;
    if (parts <= maxParts && characters <= maxCharacters) return undefined;
    return modelFailure('INVALID_RESPONSE', model, {
      phase: 'body',
      retryable: false,
      message: `The answer of ${nameOfModel(model)} is too large: ${characters} characters in ${parts} parts`,
      hint: 'Set maxOutputTokens.',
      context: { characters, parts, maxCharacters, maxParts },
    });
  }

  return {
    add,
    finishWith: (part, finish) => {
      finished = { part, finish };
    },
    finish: () => finished?.finish,
    finishPart: () => finished?.part,
    fail: (failure) => ({
      type: 'failure',
      failure,
      ...(finished === undefined ? {} : { finishPart: finished.part }),
    }),
    succeed: (result) => {
      assert(finished !== undefined, 'An attempt without a finish part cannot succeed');
      return { type: 'success', finishPart: finished.part, result };
    },
  };
}
