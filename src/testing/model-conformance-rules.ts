import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { createAssembly } from '../model/assembly.ts';
import { parseToolArguments } from '../model/tool-arguments.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { ended, failureOf, heardText, must, probe, requests, resultOf } from './model-conformance-probe.ts';
import type { HarnessedModel, Scenario } from './model-conformance.ts';

/** A promise of the port, with the scenarios in which it is looked at. */
export interface ConformanceRule {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
  readonly check: (subject: HarnessedModel) => Promise<void>;
}

/** A timeout that is over soon, and never before a local answer could begin. */
const shortMs = 300;

const answers: readonly ConformanceRule[] = [
  {
    name: 'answers with text and says why it stopped',
    scenarios: ['text'],
    check: async ({ model }) => {
      const { text, finish, toolCalls } = resultOf(await probe(model, requests.text));
      must(text.trim() !== '', 'The answer has no text.');
      must(toolCalls.length === 0, 'The answer holds a tool call although no tools were offered.');
      must(finish.reason === 'stop', `The finish reason is "${finish.reason}" instead of "stop".`);
    },
  },
  {
    name: 'tells parts that fold to the result',
    scenarios: ['text', 'tool-call', 'parallel-tool-calls'],
    check: async ({ model }) => {
      const seen = await probe(model, requests.parallelToolCalls);
      const result = resultOf(seen);
      must(heardText(seen.parts) === result.text, 'The text deltas do not add up to the text of the result.');
      const assembly = createAssembly();
      for (const part of seen.parts) assembly.push(part);
      const [told, given] = [assembly.read().content, result.content].map((content) =>
        JSON.stringify(content),
      );
      must(told === given, `The parts fold to ${told}, but the result holds ${given}.`);
      const finished = seen.parts.filter(({ type }) => type === 'finished').length;
      must(finished === 1, `"finished" was told ${finished} times instead of once.`);
      must(seen.parts.at(-1)?.type === 'finished', '"finished" is not the last part.');
    },
  },
  {
    name: 'gives a tool call with its arguments',
    scenarios: ['tool-call'],
    check: async ({ model }) => {
      const { toolCalls, finish } = resultOf(await probe(model, requests.toolCall));
      must(toolCalls.length === 1, `Expected one tool call, got ${toolCalls.length}.`);
      must(
        finish.reason === 'tool-calls',
        `The finish reason is "${finish.reason}" instead of "tool-calls".`,
      );
      must(toolCalls[0]?.name === 'lookup_order', `The call is for "${toolCalls[0]?.name}".`);
      must(toolCalls[0].callId !== '', 'The call has no id.');
      must(idOf(toolCalls[0].argumentsText) === '17', `The arguments are ${toolCalls[0].argumentsText}.`);
    },
  },
  {
    name: 'gives parallel tool calls apart',
    scenarios: ['parallel-tool-calls'],
    check: async ({ model }) => {
      const { toolCalls } = resultOf(await probe(model, requests.parallelToolCalls));
      const ids = toolCalls.map(({ argumentsText }) => idOf(argumentsText));
      must(ids.join() === '17,18', `Expected calls with the ids 17 and 18, got ${ids.join() || 'none'}.`);
      must(new Set(toolCalls.map(({ callId }) => callId)).size === 2, 'Two calls have the same id.');
    },
  },
  {
    name: 'takes the results of tools, a failed one included',
    scenarios: ['text'],
    check: async ({ model }) => {
      const { text } = resultOf(await probe(model, requests.toolResults));
      must(text.trim() !== '', 'The answer to the results of tools has no text.');
    },
  },
  {
    name: 'counts tokens with whole numbers or not at all',
    scenarios: ['text', 'tool-call', 'missing-terminal', 'length'],
    check: async ({ model }) => {
      const { response } = await probe(model, requests.toolCall);
      const { usage, costUsd } = response.type === 'success' ? response.result : response.partial;
      for (const [name, count] of Object.entries(usage)) {
        must(Number.isSafeInteger(count) && count >= 0, `usage.${name} is ${count}: leave it out instead.`);
      }
      must(costUsd === undefined || (Number.isFinite(costUsd) && costUsd >= 0), `costUsd is ${costUsd}.`);
    },
  },
  {
    name: 'answers two calls at once without mixing them up',
    scenarios: ['text'],
    check: async ({ model, requests: count }) => {
      const seen = await Promise.all([probe(model, requests.text), probe(model, requests.text)]);
      for (const one of seen) {
        must(heardText(one.parts) === resultOf(one).text, 'A call heard the parts of another one.');
      }
      must(count() === 2, `Two calls made ${count()} requests.`);
    },
  },
];

const failures: readonly ConformanceRule[] = [
  {
    name: 'gives the failure of a broken server, as plain data, and does not reject',
    scenarios: ['server-error'],
    check: async ({ model }) => {
      const seen = await probe(model, requests.text);
      const { failure } = failureOf(seen, ['SERVER_ERROR', 'OVERLOADED']);
      must(failure.retryable, 'A broken server may recover, but the failure is not retryable.');
      const again: unknown = JSON.parse(JSON.stringify(failure));
      must(JSON.stringify(again) === JSON.stringify(failure), 'The failure does not survive JSON.');
    },
  },
  {
    name: 'calls an answer without its closing event STREAM_INTERRUPTED, and keeps what had arrived',
    scenarios: ['missing-terminal'],
    check: async ({ model }) => {
      const seen = await probe(model, requests.text);
      const { partial } = failureOf(seen, ['STREAM_INTERRUPTED']);
      must(partial.text !== '', 'The text that had arrived is not in the partial result.');
      must(partial.text === heardText(seen.parts), 'The partial text is not what was told.');
    },
  },
  {
    name: 'calls an answer with nothing in it EMPTY_RESPONSE',
    scenarios: ['empty'],
    check: async ({ model }) => void failureOf(await probe(model, requests.text), ['EMPTY_RESPONSE']),
  },
  {
    name: 'calls an answer that the token limit cut off OUTPUT_TRUNCATED',
    scenarios: ['length'],
    check: async ({ model }) => void failureOf(await probe(model, requests.length), ['OUTPUT_TRUNCATED']),
  },
  {
    name: 'sends exactly one request for one call',
    scenarios: ['text', 'server-error', 'missing-terminal', 'empty'],
    check: async ({ model, requests: count }) => {
      await probe(model, requests.text);
      must(count() === 1, `One call made ${count()} requests. Only the runtime retries.`);
    },
  },
];

const interruptions: readonly ConformanceRule[] = [
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
      const left = getEventListeners(signal, 'abort').length;
      must(left === 0, `${left} listeners were left on the signal after the call.`);
    },
  },
  {
    name: 'gives up by the timeout for the whole attempt',
    scenarios: ['silent', 'slow'],
    check: async ({ model }) => {
      const seen = await probe(model, requests.text, { timeouts: { totalMs: shortMs } });
      failureOf(seen, ['TIMEOUT']);
      must(seen.parts.length === seen.partsAtEnd, 'Parts were told after the call had ended.');
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

const listening: readonly ConformanceRule[] = [
  {
    name: 'waits for the listener before it tells the next part, and before it ends',
    scenarios: ['text'],
    check: async ({ model }) => {
      let busy = 0;
      let most = 0;
      const onPart = async (): Promise<void> => {
        busy += 1;
        most = Math.max(most, busy);
        for (let turn = 0; turn < 3; turn += 1) await setImmediate();
        busy -= 1;
      };
      const response = await ended(model.call(requests.text, { onPart }));
      must(busy === 0, 'The call ended while its listener was still busy.');
      must(most === 1, `The listener was called ${most} times at once.`);
      must(response.type === 'success', 'A slow listener made the call fail.');
    },
  },
  {
    name: 'does not reject when the listener throws',
    scenarios: ['text'],
    check: async ({ model }) => {
      const onPart = (): never => {
        throw new Error('The listener of the suite throws on purpose');
      };
      const response = await ended(model.call(requests.text, { onPart }));
      must(response.type === 'failure', 'The listener threw, and the call succeeded as if nothing had been.');
    },
  },
];

/** Every promise of the port that can be seen from outside. */
export const conformanceRules: readonly ConformanceRule[] = [
  ...failures,
  ...interruptions,
  ...answers,
  ...listening,
];

function idOf(argumentsText: string): unknown {
  const parsed = parseToolArguments(argumentsText);
  return parsed.type === 'parsed' ? parsed.value['id'] : undefined;
}
