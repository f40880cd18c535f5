import type { ModelRequest, ToolChoice } from '../../model/request.ts';
import { fieldsOf, textField } from './fields.ts';
import type { Fields } from './fields.ts';
import type { ChaosProtocol } from './wire-answer.ts';

type Wishes = Pick<ModelRequest, 'toolChoice' | 'output'>;

/** Which tool must be called and which schema the answer must have, where the request says so. */
export function readWishes(protocol: ChaosProtocol, body: Fields): Wishes {
  const { choice, schema } = readers[protocol](body);
  return {
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(Object.keys(schema).length === 0 ? {} : { output: { name: 'answer', schema } }),
  };
}

interface Read {
  readonly choice: ToolChoice | undefined;
  readonly schema: Fields;
}

const readers = {
  'openai-chat': (body) => ({
    choice: openaiChoice(body, fieldsOf(fieldsOf(body, 'tool_choice'), 'function')),
    schema: fieldsOf(fieldsOf(fieldsOf(body, 'response_format'), 'json_schema'), 'schema'),
  }),
  'openai-responses': (body) => ({
    choice: openaiChoice(body, fieldsOf(body, 'tool_choice')),
    schema: fieldsOf(fieldsOf(fieldsOf(body, 'text'), 'format'), 'schema'),
  }),
  anthropic: (body) => ({
    choice: anthropicChoice(fieldsOf(body, 'tool_choice')),
    schema: fieldsOf(fieldsOf(fieldsOf(body, 'output_config'), 'format'), 'schema'),
  }),
  gemini: (body) => {
    const config = fieldsOf(body, 'generationConfig');
    const field = 'responseJsonSchema' in config ? 'responseJsonSchema' : 'responseSchema';
    const calling = fieldsOf(fieldsOf(body, 'toolConfig'), 'functionCallingConfig');
    return { choice: geminiChoice(calling), schema: fieldsOf(config, field) };
  },
} as const satisfies Record<ChaosProtocol, (body: Fields) => Read>;

function openaiChoice(body: Fields, named: Fields): ToolChoice | undefined {
  const choice = body['tool_choice'];
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name = textField(named, 'name');
  return name === '' ? undefined : { name };
}

function anthropicChoice(choice: Fields): ToolChoice | undefined {
  switch (choice['type']) {
    case 'any':
      return 'required';
    case 'none':
      return 'none';
    case 'tool':
      return { name: textField(choice, 'name') };
    default:
      return undefined;
  }
}

function geminiChoice(calling: Fields): ToolChoice | undefined {
  const allowed = calling['allowedFunctionNames'];
  if (calling['mode'] === 'NONE') return 'none';
  if (calling['mode'] !== 'ANY') return undefined;
  const only: unknown = Array.isArray(allowed) && allowed.length === 1 ? allowed[0] : undefined;
  return typeof only === 'string' ? { name: only } : 'required';
}
