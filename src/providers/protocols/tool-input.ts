import { parseToolArguments } from '../../model/tool-arguments.ts';

/** Where the arguments of a past call go when they are not an object, as the protocols demand that they be. */
const invalidArgumentsField = 'invalid_arguments';

/**
 * The arguments of a past call as the object that some protocols want. No text at all is an empty object. What is not an
 * object is sent as the text it was, under a field that says so: an invented `{}` would falsify the history.
 */
export function toolInput(argumentsText: string): Readonly<Record<string, unknown>> {
  const parsed = parseToolArguments(argumentsText);
  if (parsed.type === 'empty') return {};
  if (parsed.type === 'parsed') return parsed.value;
  return { [invalidArgumentsField]: argumentsText };
}
