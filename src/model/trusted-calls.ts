import type { Model } from './model.ts';

/**
 * The calls of models that are known to keep the port's contract: they end in time, obey the signal, never reject and say
 * nothing afterwards. Nor do they keep the list of messages, which is lent to them for the time of the call and grows after it.
 * Others are watched and get a list of their own, which costs a little. By function, for a copy of a model with a call of
 * its own is another model.
 */
const trustedCalls = new WeakSet<Model['call']>();

/** Vouches for a call. For our own models only, which the conformance suite holds to the contract. */
export function trustCall(call: Model['call']): Model['call'] {
  trustedCalls.add(call);
  return call;
}

/** Whether the application vouched for it. */
export function isTrustedCall(call: Model['call']): boolean {
  return trustedCalls.has(call);
}
