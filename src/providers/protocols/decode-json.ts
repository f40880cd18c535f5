import { isRecord } from '../../base/json.ts';
import { parseExactly } from '../../model/check/exact-json.ts';
import { maxJsonDepth, nestsTooDeeply } from '../../model/check/json-depth.ts';
import type { DecodeProblem, DecodeResult } from '../protocol.ts';
import { jsonText } from './json-text.ts';

/** What the data of one event is: a JSON object, or the problem to report. */
export type EventData =
  | { readonly type: 'object'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly type: 'problem'; readonly problem: DecodeProblem };

/** Parses the data of one event. Every protocol sends objects, so anything else is malformed. */
export function parseEventData(data: string): EventData {
  if (nestsTooDeeply(data))
    return malformedData(`The event nests more than ${maxJsonDepth} levels deep`, data);
  try {
    const value = parseExactly(data);
    if (isRecord(value)) return { type: 'object', value };
    return malformedData(`The event must be a JSON object, got ${describe(value)}`, data);
  } catch (error) {
    // JSON.parse throws nothing but SyntaxError, whose text names the place.
    return malformedData(`The event is not JSON: ${(error as SyntaxError).message}`, data);
  }
}

/** The verdict on a whole body that is not what the protocol allows. */
export function malformedBody(reason: string, body: unknown): DecodeResult {
  return { type: 'problem', problem: { type: 'malformed', reason, data: wireText(body) }, parts: [] };
}

/** What a provider sent, as JSON again. Where it is nested too deeply to be written, a text that is not JSON says so. */
export function wireText(value: unknown): string {
  return jsonText(value) ?? '[JSON that is nested too deeply]';
}

function malformedData(reason: string, data: string): EventData {
  return { type: 'problem', problem: { type: 'malformed', reason, data } };
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
