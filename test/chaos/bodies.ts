import type { ChaosProtocol } from '../../src/chaos/wire/wire-answer.ts';

export interface BodyOptions {
  readonly isStream?: boolean;
  readonly hasTools?: boolean;
  readonly text?: string;
}

/** The path below the origin and the body of a small question in each protocol. */
export function question(
  protocol: ChaosProtocol,
  { isStream = true, hasTools = true, text = 'What is the weather in Oslo?' }: BodyOptions = {},
): { readonly path: string; readonly body: object } {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tool = { name: 'weather', description: 'Tells the weather of a city.' };
  switch (protocol) {
    case 'openai-chat':
      return {
        path: '/v1/chat/completions',
        body: {
          model: 'chaos-large',
          stream: isStream,
          ...(isStream ? { stream_options: { include_usage: true } } : {}),
          messages: [{ role: 'user', content: text }],
          ...(hasTools ? { tools: [{ type: 'function', function: { ...tool, parameters: schema } }] } : {}),
        },
      };
    case 'openai-responses':
      return {
        path: '/v1/responses',
        body: {
          model: 'chaos-large',
          stream: isStream,
          input: [{ role: 'user', content: text }],
          ...(hasTools ? { tools: [{ type: 'function', ...tool, parameters: schema }] } : {}),
        },
      };
    case 'anthropic':
      return {
        path: '/v1/messages',
        body: {
          model: 'chaos-large',
          stream: isStream,
          max_tokens: 500,
          messages: [{ role: 'user', content: text }],
          ...(hasTools ? { tools: [{ ...tool, input_schema: schema }] } : {}),
        },
      };
    case 'gemini':
    default:
      return {
        path: `/v1beta/models/chaos-large:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: {
          contents: [{ role: 'user', parts: [{ text }] }],
          ...(hasTools ? { tools: [{ functionDeclarations: [{ ...tool, parameters: schema }] }] } : {}),
        },
      };
  }
}
