import { carry } from './carry.ts';
import type { Host } from './generation.ts';
import type { CarryMessage, SettleMessage } from './messages.ts';
import { retryPolicy } from './retry-policy.ts';

/** How a program that no longer fits its journal is ended, outside the journal. */
export type EndChanged = (runId: string, invocationId: string, settle: SettleMessage) => Promise<void>;

/** Unless it is ended, Restate asks again this much later, and finds the old code if it was restored. */
const changedRetryMs = 3_600_000;

/** The service of Restate that runs generations. */
export function createProgram(host: Host, endChanged: EndChanged): unknown {
  const { sdk, names, options } = host;
  const { abortTimeoutMs, inactivityTimeoutMs, journalRetentionMs } = options.limits;
  return sdk.service({
    name: names.program,
    handlers: {
      carry: async (context, begun: CarryMessage) => {
        const carried = await carry(host, context, begun);
        if (carried.type === 'settled') return;
        await endChanged(begun.runId, context.request().id, carried.settle);
        throw new sdk.RetryableError(`The program of run "${begun.runId}" has changed`, {
          retryAfter: changedRetryMs,
        });
      },
    },
    options: {
      ingressPrivate: true,
      abortTimeout: abortTimeoutMs,
      inactivityTimeout: inactivityTimeoutMs,
      journalRetention: journalRetentionMs,
      retryPolicy,
    },
  });
}
