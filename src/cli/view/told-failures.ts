import type { RunEvent } from '../../agent/run-event.ts';
import type { Failure } from '../../errors/failure.ts';

/** Events after which no more text comes for the line that is being written. */
const endings: ReadonlySet<RunEvent['type']> = new Set([
  'turn-started',
  'tool-started',
  'tool-finished',
  'approval-requested',
  'run-suspended',
  'run-finished',
]);

/** Whether a line of text that is not complete ends here. A failure does not end it: the text may continue, or be taken back. */
export function endsText({ type }: RunEvent): boolean {
  return endings.has(type);
}

/** A tool's failure comes twice: as its end, and as a failure. It is reported once. */
export function isToldAlready(held: { lastTold: string | undefined }, event: RunEvent): boolean {
  if (event.type === 'child-event') return isToldAlready(held, event.event);
  if (event.type === 'tool-finished') held.lastTold = event.end.failure && nameOf(event.end.failure);
  return event.type === 'failure' && held.lastTold === nameOf(event.failure);
}

function nameOf({ code, message }: Failure): string {
  return `${code} ${message}`;
}
