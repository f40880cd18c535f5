import type { Json } from '../../base/json.ts';
import { seededId } from '../seeded.ts';
import type { WireAnswer, WireToolCall } from '../wire/wire-answer.ts';
import { wordOf } from './fault-row.ts';
import type { FaultRow, Occasion } from './fault-row.ts';

const refusalText = "I'm sorry, but I can't help with that.";

/** What is wrong with what the model says; the transport is in order. */
export const answerFaults = {
  'empty-answer': {
    group: 'answer',
    summary: 'Neither text nor a tool call, and a proper end',
    isEveryday: true,
    needs: 'answer',
    answer: (answer) => ({ ...answer, text: '', reasoning: '', toolCalls: [], finish: 'stop' }),
  },
  'cut-off-answer': {
    group: 'answer',
    summary: 'The text stops at the limit of output tokens',
    needs: 'answer',
    answer: (answer) => ({
      ...answer,
      text: halfOf(answer.text === '' ? 'Here is a long answer that will not be finished' : answer.text),
      toolCalls: [],
      finish: 'length',
    }),
  },
  'cut-off-tool-call': {
    group: 'answer',
    summary: 'The limit of output tokens is reached inside a tool call',
    needs: 'tools',
    answer: (answer, occasion) =>
      bendCall({ ...answer, finish: 'length' }, occasion, (call) => ({
        ...call,
        argumentsText: halfOf(call.argumentsText),
        isCutOff: true,
      })),
  },
  'bad-tool-arguments': {
    group: 'answer',
    summary: 'A tool call whose arguments are wrong',
    parameters: { kind: 'not-json (default), trailing, list, types, empty, proto, duplicate' },
    needs: 'tools',
    answer: (answer, occasion) => {
      const kind = wordOf(occasion, 'kind') ?? 'not-json';
      return bendCall({ ...answer, finish: 'tool-calls' }, occasion, (call) => {
        return { ...call, argumentsText: (badArguments.get(kind) ?? notJson)(call) };
      });
    },
  },
  'truncated-tool-arguments': {
    group: 'answer',
    summary: 'A tool call whose arguments stop in the middle, although the model says that it is done',
    isEveryday: true,
    needs: 'tools',
    answer: (answer, occasion) =>
      bendCall({ ...answer, finish: 'tool-calls' }, occasion, (call) => {
        return { ...call, argumentsText: halfOf(call.argumentsText) };
      }),
  },
  'unknown-tool': {
    group: 'answer',
    summary: 'A call of a tool that nobody offered',
    parameters: { tool: 'its name, no_such_tool by default' },
    needs: 'answer',
    answer: (answer, occasion) =>
      bendCall({ ...answer, finish: 'tool-calls' }, occasion, (call) => {
        return { ...call, name: wordOf(occasion, 'tool') ?? 'no_such_tool' };
      }),
  },
  'tool-loop': {
    group: 'answer',
    summary: 'The same call of the same tool, at every request that has this fault',
    needs: 'tools',
    answer: (answer, occasion) => ({
      ...answer,
      text: '',
      finish: 'tool-calls',
      toolCalls: [callOf(occasion)],
    }),
  },
  refusal: {
    group: 'answer',
    summary: 'The model refuses, with or without a word',
    parameters: { text: 'what it says; empty says nothing' },
    needs: 'answer',
    answer: refuse,
  },
  filtered: {
    group: 'answer',
    summary: 'A filter of the provider stops the answer',
    parameters: { text: 'how much came before: half (default) or none' },
    needs: 'answer',
    answer: (answer, occasion) => ({
      ...answer,
      text: wordOf(occasion, 'text') === 'none' ? '' : halfOf(answer.text),
      toolCalls: [],
      finish: 'filtered',
    }),
  },
  'usage-missing': {
    group: 'answer',
    summary: 'A good answer without a count of tokens',
    needs: 'answer',
    answer: (answer) => ({ ...answer, usage: { type: 'missing' } }),
  },
  'usage-nonsense': {
    group: 'answer',
    summary: 'A good answer whose counts of tokens are nonsense',
    parameters: { kind: 'negative (default), fraction, text, huge, null, list' },
    needs: 'answer',
    answer: (answer, occasion) => {
      const value = nonsense.get(wordOf(occasion, 'kind') ?? 'negative');
      // Not by `??`: null is one of the kinds.
      const usage = { type: 'nonsense', value: value === undefined ? negative : value } as const;
      return { ...answer, wantsStreamUsage: true, usage };
    },
  },
  'bad-finish-reason': {
    group: 'answer',
    summary: 'A good answer that ends for a reason nobody knows',
    parameters: { reason: 'the word, banana by default' },
    needs: 'answer',
    answer: (answer, occasion) => ({ ...answer, rawFinish: wordOf(occasion, 'reason') ?? 'banana' }),
  },
} as const satisfies Record<string, FaultRow>;

function refuse(answer: WireAnswer, occasion: Occasion): WireAnswer {
  const refusal = wordOf(occasion, 'text') ?? refusalText;
  // OpenAI says a refusal in a field of its own; without a word there is only the filter left to name.
  const finish = refusal === '' && occasion.route.family === 'openai' ? 'filtered' : 'refused';
  return { ...answer, text: '', refusal, toolCalls: [], finish };
}

type Bend = (call: WireToolCall) => WireToolCall;

/** Bends the first call; where the answer has none, it makes one of the first tool that was offered. */
function bendCall(answer: WireAnswer, occasion: Occasion, bend: Bend): WireAnswer {
  const [first = callOf(occasion), ...rest] = answer.toolCalls;
  return { ...answer, toolCalls: [bend(first), ...rest] };
}

function callOf({ toolNames, random }: Occasion): WireToolCall {
  return {
    callId: `call_${seededId(random, 24)}`,
    name: toolNames[0] ?? 'no_such_tool',
    argumentsText: '{"query":"the same question as before"}',
    isCutOff: false,
  };
}

function halfOf(text: string): string {
  const points = Array.from(text);
  return points.slice(0, Math.ceil(points.length / 2)).join('');
}

type Arguments = (call: WireToolCall) => string;

const notJson: Arguments = () => "{query: 'single quotes', }";

// Maps, for the names come from a header: `constructor` would be found in an object.
const badArguments: ReadonlyMap<string, Arguments> = new Map<string, Arguments>([
  ['not-json', notJson],
  ['trailing', ({ argumentsText }) => `${argumentsText} I hope this helps!`],
  ['list', ({ argumentsText }) => `[${argumentsText}]`],
  ['types', () => '{"query":[17],"limit":"many","text":null,"path":{}}'],
  ['empty', () => ''],
  ['proto', () => '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
  ['duplicate', () => '{"query":"first","query":"second"}'],
]);

const negative = -7;
const nonsense: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['negative', negative],
  ['fraction', 1.5],
  ['text', 'NaN'],
  ['huge', 2 ** 60],
  ['null', null],
  ['list', [1, 2]],
]);
