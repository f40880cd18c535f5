import { isRecord } from '../../base/json.ts';
import { boundAndFreeze, toPlainJson } from '../../base/plain-json.ts';
import { redactJson } from '../../base/redact.ts';
import { clean } from '../../errors/failure.ts';
import type { EventSource, ObserverHook } from '../../agent/hooks/hook.ts';
import { logRules } from '../../agent/log.ts';
import type { LogEntry, LogRule } from '../../agent/log.ts';
import type { RunEvent } from '../../agent/run-event.ts';

/**
 * An observer that writes a structured log of every run. `write` may throw or take its time: the run does not notice.
 *
 * @example createLogHook((entry) => process.stderr.write(`${JSON.stringify(entry)}\n`));
 */
export function createLogHook(write: (entry: LogEntry) => void): ObserverHook {
  return {
    name: 'log',
    kind: 'observer',
    on: {},
    onEvent: (event, about) => {
      const entry = logEntryOf(event, about);
      // What a writer returns, such as the promise of a stream, is waited for in its line.
      return entry === undefined ? undefined : write(entry);
    },
  };
}

/** What is logged of an event; nothing for deltas. */
export function logEntryOf(event: RunEvent, { runId, agent }: EventSource): LogEntry | undefined {
  // The rule of an event's own type takes that event, which the compiler cannot follow.
  const rule = logRules[event.type] as LogRule<RunEvent>;
  if (rule === undefined) return undefined;
  const { level, message, fields } = rule;
  return {
    level: typeof level === 'function' ? level(event) : level,
    message,
    fields: cleanFields({ runId, agent, ...fields(event) }),
  };
}

const bounds = {
  maxDepth: 6,
  maxMembers: 100,
  maxTextLength: 1000,
  maxTotalLength: 8000,
  // A text that needs no cut is redacted with the rest below.
  boundText: (text: string) => (text.length <= 1000 ? text : clean(text, 1000)),
} as const;

function cleanFields(fields: object): LogEntry['fields'] {
  const cleaned = boundAndFreeze(redactJson(toPlainJson(fields, bounds)), bounds);
  // An object stays an object: each step keeps the shape of what it is given.
  return isRecord(cleaned) ? cleaned : {};
}
