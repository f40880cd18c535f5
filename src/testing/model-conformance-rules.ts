import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createAssembly } from '../model/assembly.ts';
import { parseToolArguments } from '../model/tool-arguments.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { interruptionRules } from './model-conformance-interruptions.ts';
import { ended, failureOf, heardText, must, probe, resultOf } from './model-conformance-probe.ts';
import { refusableFor, requests } from './model-conformance-requests.ts';
import type { HarnessedModel, Scenario } from './model-conformance.ts';

/** A promise of the port, with the scenarios in which it is looked at. */
export interface ConformanceRule {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
  readonly check: (subject: HarnessedModel) => Promise<void>;
}

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
      const told = assembly.read();
      for (const field of ['content', 'finish', 'usage', 'responseId', 'servedBy'] as const) {
        mustEqual(result[field], { told: told[field], field });
      }
      const calls = result.content.filter(({ type }) => type === 'tool-call');
      mustEqual(result.toolCalls, { told: calls, field: 'toolCalls' });
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
      must(isPlain(failure), 'The failure is an Error or of another class. A failure is plain data.');
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
    name: 'refuses what it does not take, and does not leave it out',
    scenarios: ['text'],
    check: async ({ model }) => {
      for (const { what, request } of refusableFor(model.capabilities)) {
        const seen = await probe(model, request);
        must(
          seen.response.type === 'failure',
          `It answered a request with ${what} as if that were not in it.`,
        );
        failureOf(seen, ['CONFIG_ERROR']);
        must(seen.parts.length === 0, `Parts were told although the request, with ${what}, was refused.`);
      }
    },
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
    name: 'does not mind what the listener returns',
    scenarios: ['text'],
    check: async ({ model }) => {
      const parts: StreamPart[] = [];
      // As in JavaScript, where nobody objects to it.
      const onPart = ((part: StreamPart) => parts.push(part)) as (part: StreamPart) => void;
      const response = await ended(model.call(requests.text, { onPart }));
      must(response.type === 'success', 'A listener that returns a number made the call fail.');
      must(parts.at(-1)?.type === 'finished', 'The listener did not hear all of the answer.');
    },
  },
  {
    name: 'does not reject when the listener throws',
    scenarios: ['text'],
    check: async ({ model }) => {
      let isOpen = true;
      const onPart = (): void => {
        // Afterwards nobody would catch it.
        if (isOpen) throw new Error('The listener of the suite throws on purpose');
      };
      const response = await ended(model.call(requests.text, { onPart }));
      isOpen = false;
      must(response.type === 'failure', 'The listener threw, and the call succeeded as if nothing had been.');
    },
  },
];

/** Every promise of the port that can be seen from outside. */
export const conformanceRules: readonly ConformanceRule[] = [
  ...failures,
  ...interruptionRules,
  ...answers,
  ...listening,
];

function idOf(argumentsText: string): unknown {
  const parsed = parseToolArguments(argumentsText);
  return parsed.type === 'parsed' ? parsed.value['id'] : undefined;
}

/** Compares as JSON does, for a field that is absent and one that is undefined say the same. */
function mustEqual(
  given: unknown,
  { told, field }: { readonly told: unknown; readonly field: string },
): void {
  const [toldText, givenText] = [told, given].map((value) => JSON.stringify(value));
  const isEqual = isDeepStrictEqual(plainOf(toldText), plainOf(givenText));
  must(isEqual, `By the parts, "${field}" is ${toldText}, but the result holds ${givenText}.`);
}

function plainOf(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
