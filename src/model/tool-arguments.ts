import { isRecord, type Json } from '../base/json.ts';
import { findInexact } from './check/exact-json.ts';
import { maxJsonDepth, nestsTooDeeply } from './check/json-depth.ts';

/** What the text of a tool call's arguments is. Nothing is repaired and nothing invented here. */
export type ToolArguments =
  | { readonly type: 'parsed'; readonly value: Readonly<Record<string, Json>> }
  /** No text at all, as providers send it for a tool without parameters; whether that is allowed the schema says. */
  | { readonly type: 'empty' }
  | {
      readonly type: 'invalid';
      readonly reason: string;
      /** It is JSON, but a number or a name in it would not come back as the model wrote it. */
      readonly isInexact?: true;
    };

/** Reads the arguments as the model wrote them. */
export function parseToolArguments(argumentsText: string): ToolArguments {
  if (argumentsText.trim() === '') return { type: 'empty' };
  if (nestsTooDeeply(argumentsText)) {
    return { type: 'invalid', reason: `The arguments nest more than ${maxJsonDepth} levels deep` };
  }
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (isRecord(value)) {
      const reason = findInexact(argumentsText);
      if (reason !== undefined) return { type: 'invalid', reason, isInexact: true };
      return {
        type: 'parsed',
        value: withoutMinusZero(value as Readonly<Record<string, Json>>, argumentsText),
      }; // From JSON.parse.
    }
    return { type: 'invalid', reason: `The arguments must be a JSON object, got ${describe(value)}` };
  } catch (error) {
    // JSON.parse throws nothing but SyntaxError, whose text names the place.
    return { type: 'invalid', reason: `The arguments are not JSON: ${(error as SyntaxError).message}` };
  }
}

/** JSON writes `-0` as `0`: what a tool gets and what is on record must be the same. */
function withoutMinusZero<Value>(value: Value, text: string): Value {
  return /-0(?![.\d]*[1-9])/.test(text) ? (JSON.parse(JSON.stringify(value)) as Value) : value;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
