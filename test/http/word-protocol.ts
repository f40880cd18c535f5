import { createHttpModel } from '../../src/providers/http-model.ts';
import type { HttpModelConfig } from '../../src/providers/http-model.ts';
import type { Model } from '../../src/model/model.ts';
import type { ModelRequest } from '../../src/model/request.ts';
import type { DecodeResult, WireProtocol } from '../../src/providers/protocol.ts';

const parts = (...list: Extract<DecodeResult, { type: 'parts' }>['parts']): DecodeResult => ({
  type: 'parts',
  parts: list,
});

const finish = { type: 'finished', finish: { reason: 'stop', raw: 'end' } } as const;

/** The smallest protocol there can be: an event is a word, `[DONE]` is the end, `!…` an error, `?…` is not understood. */
const wordProtocol: WireProtocol = {
  name: 'words',
  request: (request) => ({ path: '/words', body: { messages: request.messages } }),
  stream: () => ({
    event: ({ name, data }) => {
      if (name === 'ping') return parts();
      if (data === '[DONE]') return parts(finish);
      if (data.startsWith('!')) {
        return { type: 'problem', problem: { type: 'provider-error', body: data.slice(1) }, parts: [] };
      }
      if (data.startsWith('?')) {
        return { type: 'problem', problem: { type: 'malformed', reason: 'No word.', data }, parts: [] };
      }
      return parts({ type: 'text-delta', text: data });
    },
    end: () => parts(),
  }),
  whole: (body) => parts({ type: 'text-delta', text: String(body) }, finish),
};

/** A model that speaks it. */
export function wordModel(config: Partial<HttpModelConfig> & { readonly baseURL: string }): Model {
  return createHttpModel({
    provider: 'test',
    model: 'words-1',
    protocol: wordProtocol,
    headers: { authorization: 'Bearer test-key' },
    quotaKey: 'test',
    capabilities: {
      tools: false,
      parallelToolCalls: false,
      structuredOutput: 'none',
      images: false,
      files: false,
      reasoningEffort: false,
      reasoningBudget: false,
      caching: 'none',
      sampling: [],
      continuation: 'none',
    },
    ...config,
  });
}

export const wordRequest: ModelRequest = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Say a word.' }] }],
};

/** Events as they stand in a stream. */
export const words = (...list: readonly string[]): string => list.map((word) => `data: ${word}\n\n`).join('');
