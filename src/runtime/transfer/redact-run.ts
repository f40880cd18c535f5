import { redact, redactJson } from '../../base/redact.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { NewEvent } from '../../model/store/store.ts';
import { at } from '../record/run-blobs.ts';

/**
 * An event without the secrets that the redactor knows. Whatever was said, asked or answered is redacted by text and by name. What
 * the machine needs to find its way is redacted by text alone: a tool may be called `read_secret`, and what is counted of it
 * stands under that name.
 */
export function redactEvent<Event extends NewEvent>(event: Event): Event {
  let body = redactJson(event.body);
  for (const path of keptPaths(event)) {
    const kept = at(event.body, path);
    if (kept !== undefined) body = put(body, path, redactTexts(kept as Json)); // A part of what is JSON.
  }
  return { ...event, body };
}

type Path = readonly string[];

const statePaths: readonly Path[] = [
  'config',
  'withdrawn',
  'breakers',
  'tallies',
  'guard',
  'ledger',
  'resting',
  'children',
].map((name) => ['input', 'state', name]);

const keptByType: Readonly<Record<string, readonly Path[]>> = {
  began: [['facts'], ['input', 'config'], ...statePaths],
  wait: [['signalled', 'payload', 'config']],
  imported: [['run', 'tools']],
};

/** Inputs of effects say where the run stands; the question to a person holds what the model wrote. */
function keptPaths({ type, body }: NewEvent): readonly Path[] {
  if (type !== 'call') return Object.hasOwn(keptByType, type) ? (keptByType[type] ?? []) : [];
  const effect = at(body, ['effect']);
  if (effect === 'ask') return [];
  // The token of an intent is a number drawn for it, and worth nothing to anybody.
  return effect === 'intend' ? [['input'], ['outcome', 'value']] : [['input']];
}

function put(value: Json, [name, ...rest]: Path, part: Json): Json {
  if (name === undefined) return part;
  if (!isRecord(value)) return value;
  const record = value as Readonly<Record<string, Json>>; // A part of what is JSON.
  return { ...record, [name]: put(record[name] ?? null, rest, part) };
}

/** Redacts every text in a value, and no names. */
function redactTexts(value: Json): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member: Json) => redactTexts(member));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redactTexts(member)]));
}
