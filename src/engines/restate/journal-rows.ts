import { isRecord } from '../../base/json.ts';

/** What a row of Restate's own journal says, as far as it matters to a run. */
export type Fact =
  | { readonly type: 'begun'; readonly message: unknown }
  | { readonly type: 'step-begun'; readonly name: string; readonly completion: number }
  | { readonly type: 'step-ended'; readonly completion: number; readonly record: unknown }
  | {
      readonly type: 'timer-begun';
      readonly name: string;
      readonly completion: number;
      readonly dueAtMs: number;
    }
  | { readonly type: 'timer-ended'; readonly completion: number }
  | { readonly type: 'mail-came'; readonly mail: unknown }
  | { readonly type: 'cancelled' }
  /** The invocation has said its last. */
  | { readonly type: 'over' };

/** The kinds of rows that are read. */
export const rowTypes = [
  'Command: Input',
  'Command: Run',
  'Command: Sleep',
  'Command: Output',
  'Notification: Run',
  'Notification: Sleep',
  'Notification: Signal',
] as const;

/** Reads a row of `sys_journal` by its column `entry_json`. Undefined for what does not matter to a run. */
export function readRow(entry: unknown): Fact | undefined {
  const command = at(entry, 'Command');
  return command === undefined ? readNotification(at(entry, 'Notification')) : readCommand(command);
}

function readCommand(command: unknown): Fact | undefined {
  const input = at(command, 'Input');
  if (input !== undefined) return { type: 'begun', message: readBytes(at(input, 'payload')) };
  const run = at(command, 'Run');
  if (run !== undefined) return { type: 'step-begun', name: nameIn(run), completion: completionIn(run) };
  if (at(command, 'Output') !== undefined) return { type: 'over' };
  const sleep = at(command, 'Sleep');
  if (sleep === undefined) return undefined;
  const dueAtMs = Number(at(sleep, 'wake_up_time'));
  return { type: 'timer-begun', name: nameIn(sleep), completion: completionIn(sleep), dueAtMs };
}

function readNotification(notification: unknown): Fact | undefined {
  const signal = at(notification, 'Signal');
  if (signal !== undefined) return readSignal(signal);
  const completion = at(notification, 'Completion');
  const sleep = at(completion, 'Sleep');
  if (sleep !== undefined) return { type: 'timer-ended', completion: completionIn(sleep) };
  const run = at(completion, 'Run');
  const bytes = at(at(run, 'result'), 'Success');
  if (bytes === undefined) return undefined;
  return { type: 'step-ended', completion: completionIn(run), record: readBytes(bytes) };
}

/** What Restate sends to a program that must end; all others are answers to waits. */
const cancelSignal = 1;

function readSignal(signal: unknown): Fact | undefined {
  if (at(at(signal, 'id'), 'Index') === cancelSignal) return { type: 'cancelled' };
  const bytes = at(at(signal, 'result'), 'Success');
  return bytes === undefined ? undefined : { type: 'mail-came', mail: readBytes(bytes) };
}

function at(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function nameIn(command: unknown): string {
  return String(at(command, 'name'));
}

function completionIn(entry: unknown): number {
  return Number(at(entry, 'completion_id'));
}

/** Restate shows bytes as a list of numbers. Ours are JSON. */
function readBytes(bytes: unknown): unknown {
  return JSON.parse(Buffer.from(bytes as readonly number[]).toString('utf8')); // As Restate writes them.
}
