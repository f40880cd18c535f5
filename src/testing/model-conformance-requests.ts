import type { Capabilities } from '../model/capabilities.ts';
import type { Message } from '../model/message.ts';
import type { ModelRequest, ToolDefinition } from '../model/request.ts';

const lookup: ToolDefinition = {
  name: 'lookup_order',
  description: 'Looks up an order by its id.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
};

const ask = (content: string): ModelRequest => ({ messages: [{ role: 'user', content }] });

/** The requests that the cases send. */
export const requests = {
  text: ask('Hello, who are you?'),
  toolCall: { ...ask('Use lookup_order for the order with the id 17.'), tools: [lookup] },
  parallelToolCalls: {
    ...ask('Use lookup_order for id 17 and use lookup_order for id 18.'),
    tools: [lookup],
  },
  length: { ...ask('Hello, who are you?'), maxOutputTokens: 4 },
  toolResults: { messages: conversation(), tools: [lookup] },
} as const satisfies Record<string, ModelRequest>;

/** Two calls in one turn, one of which failed, and their results. */
function conversation(): readonly Message[] {
  const call = (callId: string, id: string) =>
    ({ type: 'tool-call', callId, name: lookup.name, argumentsText: JSON.stringify({ id }) }) as const;
  const result = (callId: string, content: string) =>
    ({ type: 'tool-result', callId, name: lookup.name, content }) as const;
  return [
    { role: 'system', content: 'You look up orders.' },
    { role: 'user', content: 'Use lookup_order for id 17 and use lookup_order for id 18.' },
    { role: 'assistant', content: [call('call_a', '17'), call('call_b', '18')] },
    {
      role: 'tool',
      content: [
        result('call_a', 'Order 17: two books, paid.'),
        { ...result('call_b', 'There is no order 18, and none may have been.'), isError: true },
      ],
    },
  ];
}

/** A request that the model may have to refuse. */
interface Refusable {
  readonly what: string;
  readonly request: ModelRequest;
  readonly isTaken: (capabilities: Capabilities) => boolean;
}

const image = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'base64', data: 'iVBORw0KGgo=' },
} as const;

const refusables: readonly Refusable[] = [
  { what: 'a temperature of 5', request: { ...requests.text, temperature: 5 }, isTaken: () => false },
  { what: 'tools', request: requests.toolCall, isTaken: ({ tools }) => tools },
  {
    what: 'an image',
    request: { messages: [{ role: 'user', content: [image] }] },
    isTaken: ({ images }) => images,
  },
  {
    what: 'a schema for the answer',
    request: { ...requests.text, output: { name: 'answer', schema: { type: 'object' } } },
    isTaken: ({ structuredOutput }) => structuredOutput !== 'none',
  },
  {
    what: 'a seed',
    request: { ...requests.text, seed: 7 },
    isTaken: ({ sampling }) => sampling.includes('seed'),
  },
];

/** What no model takes, and what this one says it lacks. */
export function refusableFor(capabilities: Capabilities): readonly Refusable[] {
  return refusables.filter(({ isTaken }) => !isTaken(capabilities));
}
