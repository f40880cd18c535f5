import { getEventListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { StreamPart } from '../model/stream-part.ts';
import { ended, failureOf, must, probe } from './model-conformance-probe.ts';
import { requests } from './model-conformance-requests.ts';
import type { ConformanceRule } from './model-conformance-rules.ts';
import { simulatedClock } from './simulated-clock.ts';

/** A timeout that is over soon, and never before a local answer could begin. */
const shortMs = 300;
/** Real time in which a model must have noticed that its time is over; far above what a slow machine needs. */
const graceMs = 5000;

/** What a model promises about signals, timeouts and the clock. */
export const interruptionRules: readonly ConformanceRule[] = [
  {
    name: 'sends nothing when the signal was aborted before',
    scenarios: ['text'],
    check: async ({ model, requests: count }) => {
      const seen = await probe(model, requests.text, { signal: AbortSignal.abort() });
      failureOf(seen, ['CANCELLED']);
      must(seen.parts.length === 0, 'Parts were told although the call was cancelled before.');
      must(count() === 0, `The call was cancelled before, and yet made ${count()} requests.`);
    },
  },
  {
    name: 'ends as CANCELLED when the signal aborts at once',
    scenarios: ['silent', 'text'],
    check: async ({ model }) => {
      const controller = new AbortController();
      const probing = probe(model, requests.text, { signal: controller.signal });
      controller.abort();
      const seen = await probing;
      failureOf(seen, ['CANCELLED']);
      must(seen.parts.length === seen.partsAtEnd, 'Parts were told after the call had ended.');
    },
  },
  {
    name: 'ends as CANCELLED in the middle of an answer, keeps what had arrived and tells no more',
    scenarios: ['slow', 'text'],
    check: async ({ model }) => {
      const controller = new AbortController();
      const onPart = ({ type }: StreamPart): void => {
        if (type === 'text-delta') controller.abort();
      };
      const seen = await probe(model, requests.text, { signal: controller.signal, onPart });
      const { partial } = failureOf(seen, ['CANCELLED']);
      must(partial.text !== '', 'The text that had arrived is not in the partial result.');
      must(seen.parts.length === seen.partsAtEnd, 'Parts were told after the call had ended.');
    },
  },
  {
    name: 'ends as CANCELLED although the listener never finishes',
    scenarios: ['text'],
    check: async ({ model }) => {
      const controller = new AbortController();
      const onPart = (): Promise<void> => {
        controller.abort();
        return new Promise(() => undefined);
      };
      failureOf(await probe(model, requests.text, { signal: controller.signal, onPart }), ['CANCELLED']);
    },
  },
  {
    name: 'leaves no listener on the signal',
    scenarios: ['text', 'server-error'],
    check: async ({ model }) => {
      const { signal } = new AbortController();
      await probe(model, requests.text, { signal });
      mustBeLeft(signal);
    },
  },
  {
    name: 'gives up by the timeout for the whole attempt',
    scenarios: ['silent', 'slow'],
    check: async ({ model }) => {
      const { signal } = new AbortController();
      const seen = await probe(model, requests.text, { signal, timeouts: { totalMs: shortMs } });
      failureOf(seen, ['TIMEOUT']);
      mustBeLeft(signal);
      must(seen.parts.length === seen.partsAtEnd, 'Parts were told after the call had ended.');
    },
  },
  {
    name: 'gives up by the timeout although the listener never finishes',
    scenarios: ['text'],
    check: async ({ model }) => {
      const onPart = (): Promise<void> => new Promise(() => undefined);
      const call = model.call(requests.text, { onPart, timeouts: { totalMs: shortMs } });
      failureOf({ response: await ended(call, graceMs) }, ['TIMEOUT']);
    },
  },
  {
    name: 'gives up when no answer begins, by the clock that it was handed',
    scenarios: ['silent'],
    check: async ({ model, requests: count }) => {
      const clock = simulatedClock();
      const controller = new AbortController();
      const { signal } = controller;
      const timeouts = { connectMs: 3_600_000, headersMs: 30_000, totalMs: 3_600_000 };
      const call = ended(model.call(requests.text, { clock, signal, timeouts }));
      let isEnded = false;
      const noted = call.finally(() => {
        isEnded = true;
      });
      try {
        await until(() => isEnded || count() > 0);
        must(!isEnded, 'The call ended before anybody was asked.');
        await clock.advance(timeouts.headersMs + 1);
        await until(() => isEnded);
        must(isEnded, `${timeouts.headersMs} ms went by on the clock it was handed, and the call went on.`);
      } finally {
        // Otherwise a model that breaks the promise would go on after the case.
        controller.abort();
      }
      failureOf({ response: await noted }, ['TIMEOUT']);
    },
  },
  {
    name: 'gives up when the answer falls silent',
    scenarios: ['slow'],
    check: async ({ model }) =>
      void failureOf(await probe(model, requests.text, { timeouts: { idleMs: shortMs } }), ['TIMEOUT']),
  },
  {
    name: 'refuses a timeout that is no number',
    scenarios: ['text'],
    check: async ({ model, requests: count }) => {
      const seen = await probe(model, requests.text, { timeouts: { totalMs: Number.NaN } });
      failureOf(seen, ['CONFIG_ERROR']);
      must(count() === 0, 'A request was sent although a timeout was no number.');
    },
  },
];

function mustBeLeft(signal: AbortSignal): void {
  const left = getEventListeners(signal, 'abort').length;
  must(left === 0, `${left} listeners were left on the signal after the call.`);
}

/** Waits in real time, for sockets know no other. Whoever calls looks whether it came true. */
async function until(isTrue: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < graceMs && !isTrue(); waitedMs += 5) await setTimeout(5);
}
