import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { printableJson, visible } from '../../base/printable.ts';
import { redact, redactJson } from '../../base/redact.ts';

/** The fields that say most about a call, the most telling first. */
const tellingFields = ['command', 'path', 'file', 'pattern', 'query', 'url', 'name', 'id'] as const;
const maxShown = 300;

/** A call on one line: the tool and what it is about. What cannot be seen is marked; secrets are not shown. */
export function callSummary(name: string, input: Json): string {
  const about = aboutOf(input);
  return about === '' ? visible(name) : `${visible(name)} ${about}`;
}

function aboutOf(input: Json): string {
  if (!isRecord(input)) return input === null ? '' : cut(printableJson(redactJson(input)));
  const field = tellingFields.find((known) => typeof input[known] === 'string');
  const value = field === undefined ? undefined : input[field];
  if (typeof value === 'string') return cut(visible(redact(value.slice(0, maxShown * 2))));
  return Object.keys(input).length === 0 ? '' : cut(printableJson(redactJson(input)));
}

function cut(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown - 1)}…`;
}
