import type { JsonSchema } from '../model/request.ts';

/** An answer that has the form that was asked for, or what is wrong with it, in words for the model. */
export type OutputCheck =
  | {
      readonly type: 'valid';
      /** As the schema made it. */
      readonly value: unknown;
      /** A code fence or words around the JSON were taken away. */
      readonly isRepaired?: true;
    }
  | { readonly type: 'invalid'; readonly problem: string };

/** What is added to the system's words for a model that cannot be held to a schema by its provider. */
export function describeOutput(schema: JsonSchema): string {
  return [
    'Your final answer must be one JSON value that fits the JSON Schema below.',
    'Write nothing but that JSON: no words before or after it, and no code fence.',
    'Call tools first where you need them; the rule holds for the final answer only.',
    '',
    JSON.stringify(schema),
  ].join('\n');
}

/** What the model is told when its answer was not what the schema asks for. */
export function reaskMessage(problem: string): string {
  return [
    'Your answer does not have the form that was asked for:',
    problem,
    'Send the whole answer again, with this put right, as one JSON value and nothing else.',
  ].join('\n');
}
