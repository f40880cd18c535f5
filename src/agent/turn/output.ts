import type { Cause } from '../../errors/failure.ts';

/** An answer that has the form that was asked for, or what is wrong with it, in words for the model. */
export type OutputCheck =
  | {
      readonly type: 'valid';
      /** As the schema made it. */
      readonly value: unknown;
      /** A code fence or words around the JSON were taken away. */
      readonly isRepaired?: true;
    }
  | {
      readonly type: 'invalid';
      readonly problem: string;
      /** What the schema's own code threw, for a developer. */
      readonly causes?: readonly Cause[];
    };

/** What the model reads when its answer does not fit the schema. */
export function reaskMessage(problem: string): string {
  return [
    'Your answer does not have the form that was asked for:',
    problem,
    'Send the whole answer again, with this put right, as one JSON value and nothing else.',
  ].join('\n');
}
