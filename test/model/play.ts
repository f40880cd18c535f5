import type { Model } from '../../src/model/model.ts';
import type { ModelRequest } from '../../src/model/request.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import type { CallEvent, CallOptions, CallOutcome } from '../../src/runtime/model-call/call-model.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts';

export const hello: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] };

export interface Played {
  readonly outcome: CallOutcome;
  readonly events: readonly CallEvent[];
  /** The text as somebody who follows the events sees it at the end. */
  readonly shown: string;
}

/** Text as it stands after the events. */
export function showText(events: readonly CallEvent[]): string {
  let shown = '';
  for (const event of events) {
    if (event.type === 'text-delta') shown += event.text;
    if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
  }
  return shown;
}

/** One call on a simulated clock. */
export async function play(
  models: Model | readonly Model[],
  clock: SimulatedClock,
  { request = hello, ...options }: CallOptions & { readonly request?: ModelRequest } = {},
): Promise<Played> {
  const events: CallEvent[] = [];
  const outcome = await clock.runUntil(
    callModel(models, request, {
      clock,
      gates: createGates({ clock }),
      random: () => 0.5,
      ...options,
      onEvent: (event) => void events.push(event),
    }),
  );
  return { outcome, events, shown: showText(events) };
}
