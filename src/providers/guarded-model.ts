import { checkRequest } from '../model/check/check-request.ts';
import { emptyPartial } from '../model/model.ts';
import type { Model } from '../model/model.ts';
import { trustCall } from '../model/trusted-calls.ts';

/** A model of our own: refuses what it does not take before anything is sent, and is vouched for. */
export function guardModel(model: Model): Model {
  return {
    ...model,
    call: trustCall((request, options) => {
      const refused = options?.isChecked === true ? undefined : checkRequest(model, request);
      if (refused === undefined) return model.call(request, options);
      return Promise.resolve({ type: 'failure', failure: refused, partial: emptyPartial });
    }),
  };
}
