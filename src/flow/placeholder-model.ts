import { createFailure } from '../errors/failure.ts';
import { emptyPartial } from '../model/model.ts';
import type { Model } from '../model/model.ts';

/** What a flow has in the place of a model: it is never asked. */
export const placeholderModel: Model = {
  provider: 'rerail',
  name: 'flow',
  quotaKey: 'rerail:flow',
  capabilities: {
    tools: true,
    parallelToolCalls: true,
    structuredOutput: 'none',
    images: true,
    files: true,
    reasoningEffort: false,
    reasoningBudget: false,
    caching: 'none',
    sampling: [],
    continuation: 'none',
  },
  call: async () => ({
    type: 'failure',
    failure: createFailure('INTERNAL', { origin: 'flow', message: 'A flow has no model to ask' }),
    partial: emptyPartial,
  }),
};
