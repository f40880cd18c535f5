import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { redactJson } from '../../base/redact.ts';
import { printable, printableJson } from '../../base/printable.ts';
import type { CliIo } from '../start/io.ts';
import { safeLine } from '../view/safe-text.ts';

/** One event as a line of JSON: as it is, without secrets, and safe to show. */
export function eventLine(event: RunEvent): string {
  return `${printableJson(redactJson(event as unknown as Json))}\n`; // Events are JSON: they stand in the journal.
}

/** What stands on standard output in the end, where it is not JSON lines: the answer, or what there is of one. */
export function answerText(outcome: RunOutcome, { hasSchema }: { readonly hasSchema: boolean }): string {
  if (outcome.type === 'completed' && hasSchema) return `${printableJson(outcome.output)}\n`;
  // A half answer is no answer: a program that reads us must not take it for one.
  if (outcome.type !== 'completed') return '';
  return shownText(outcome.text);
}

/** A text of several lines, each of them safe to show. */
function shownText(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').trimEnd().split('\n');
  return `${lines.map(safeLine).join('\n')}\n`;
}

/** What was denied because no person could approve it, for stderr. */
export function deniedText(denied: readonly string[], { command }: Pick<CliIo, 'command'>): string {
  const names = [...new Set(denied)].map((name) => printable(name)).join(', ');
  const calls = denied.length === 1 ? '1 call was' : `${denied.length} calls were`;
  return `rerail: ${calls} denied, because no person was asked for approval: ${names}. Allow it by a rule in the configuration (${command} init writes one), or let the run wait: --on-approval suspend\n`;
}
