import type { RecoveryName } from '../../agent/turn/recovery.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { unreachable } from '../../base/assert.ts';
import type { Json } from '../../base/json.ts';
import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { partsOf, textOf } from '../../model/message.ts';
import type { Row } from '../text/layout.ts';

/** Shows a run, event by event. */
export type Teller = (event: RunEvent) => readonly Row[];

const maxShown = 300;

/** Makes a teller. It remembers the text that stands on a reader's screen. */
export function createTeller(): Teller {
  let shown = '';
  return (event) => {
    if (event.type === 'text-delta') shown += event.text;
    const rows = rowsOf(event, shown);
    if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
    if (event.type === 'model-finished') shown = '';
    return rows;
  };
}

function rowsOf(event: RunEvent, shown: string): readonly Row[] {
  switch (event.type) {
    case 'attempt-started': {
      const label = event.attempt === 1 ? `turn ${event.turn}` : `attempt ${event.attempt}`;
      return [{ label, text: `${event.provider}, ${event.model}` }];
    }
    case 'tool-started':
      return [{ label: 'tool', text: callText(event.name, event.input) }];
    case 'tool-finished': {
      if (event.end.failure !== undefined) return []; // The failure is an event of its own.
      const parts: readonly { readonly type: string; readonly text?: string }[] = partsOf(event.end.content);
      return [{ label: 'result', text: quote(textOf(parts)) }];
    }
    case 'failure':
      return [
        ...(shown === '' ? [] : [{ label: 'shown', text: `“${quote(shown)}”` }]),
        { label: 'failure', text: event.failure.code, style: 'failure' },
      ];
    case 'recovery':
      return [recoveryRow(event)];
    case 'text-retracted': {
      const kept = event.keep === 0 ? 'all of it' : `all but the first ${event.keep} characters`;
      return [{ label: '', text: `what was shown is taken back: ${kept}`, style: 'recovery' }];
    }
    default:
      return [];
  }
}

const endings: ReadonlySet<RecoveryName> = new Set(['stop', 'fail']);

function recoveryRow({ recovery, reason }: Extract<RunEvent, { type: 'recovery' }>): Row {
  const text = `${recovery}: ${quote(reason)}`;
  return endings.has(recovery) ? { label: 'end', text } : { label: 'recovery', text, style: 'recovery' };
}

/** How a run ended, or why it waits. */
export function outcomeRows(outcome: RunOutcome): readonly Row[] {
  switch (outcome.type) {
    case 'completed':
      return [{ label: 'answer', text: `“${quote(outcome.text)}”` }];
    case 'suspended':
      return [{ label: 'suspended', text: waitingText(outcome), style: 'recovery' }];
    case 'stopped':
      return [{ label: 'stopped', text: `${outcome.reason}: ${partialText(outcome.partial)}` }];
    case 'failed':
      return [{ label: 'message', text: renderFailure(outcome.failure, 'person', { retrying: false }) }];
    case 'cancelled':
      return [{ label: 'cancelled', text: partialText(outcome.partial) }];
    default:
      return unreachable(outcome);
  }
}

function partialText(partial: string): string {
  return partial === '' ? 'nothing was answered so far' : `so far it said “${quote(partial)}”`;
}

function waitingText({ reason, request, resumeAt }: Extract<RunOutcome, { type: 'suspended' }>): string {
  if (resumeAt !== undefined)
    return `${reason}: what is done stays done; to be resumed from ${new Date(resumeAt).toISOString()}`;
  if (request === undefined) return reason;
  const asked = 'tool' in request ? callText(request.tool, request.input) : '';
  return [`${reason}:`, asked, `(${quote(request.why)})`].filter(Boolean).join(' ');
}

function callText(name: string, input: Json): string {
  return `${printable(name)} ${quote(JSON.stringify(input))}`;
}

function quote(text: string): string {
  return printable(boundText(text, maxShown));
}
