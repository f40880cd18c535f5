import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import type { CheckedModel } from './language-model.ts';
import { toFinish } from './read-finish.ts';
import type { ReadPart } from './read-part.ts';
import { createBlockTranslator } from './translate-blocks.ts';
import { createCallTranslator } from './translate-calls.ts';

/** Says the parts of one AI SDK stream in ours. Keeps what one response needs. */
export type Translator = (read: ReadPart) => readonly StreamPart[];

/** A fresh translator for one response. */
export function createTranslator(model: CheckedModel): Translator {
  const blocks = createBlockTranslator(model);
  const translateCall = createCallTranslator(model);
  return (read) => {
    switch (read.type) {
      case 'response':
        return [{ type: 'started', ...defined({ responseId: read.responseId, servedBy: read.servedBy }) }];
      case 'block-started':
      case 'block-delta':
      case 'block-finished':
        return blocks.translate(read);
      case 'call-started':
      case 'call':
        return [...blocks.interrupt(), ...translateCall(read)];
      case 'call-delta':
        return translateCall(read);
      case 'finish':
        return [
          ...blocks.interrupt(),
          { type: 'usage', usage: read.usage },
          { type: 'finished', finish: toFinish(read.finish) },
        ];
      case 'opened':
      case 'error':
      case 'foreign':
      case 'ignored':
      case 'keep-alive':
      case 'malformed':
        return [];
      default:
        return unreachable(read);
    }
  };
}
