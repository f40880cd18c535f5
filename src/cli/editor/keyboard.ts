import type { Cancel, Clock } from '../../base/clock.ts';
import type { Terminal } from '../start/io.ts';
import type { Key } from './key.ts';
import { createKeyParser } from './key-parser.ts';
import type { KeyParser } from './key-parser.ts';

/** The keys of a terminal. Only the latest listener receives them. */
export interface Keyboard {
  /** Gives how to hand them back. The terminal is raw while there is a listener. */
  readonly take: (hear: (key: Key) => void) => () => void;
}

/** So long an Escape may be the beginning of a sequence. */
const escapeWaitMs = 60;
const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';

export function createKeyboard(terminal: Terminal, clock: Clock): Keyboard {
  const held: Held = {
    terminal,
    clock,
    parser: createKeyParser(),
    hearers: [],
    stop: undefined,
    timer: undefined,
  };
  return {
    take: (hear) => {
      const hearer = { hear };
      held.hearers.push(hearer);
      if (held.hearers.length === 1) start(held);
      return () => {
        const place = held.hearers.indexOf(hearer);
        if (place < 0) return;
        held.hearers.splice(place, 1);
        if (held.hearers.length === 0) stop(held);
      };
    },
  };
}

interface Held {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly parser: KeyParser;
  readonly hearers: { readonly hear: (key: Key) => void }[];
  stop: (() => void) | undefined;
  timer: Cancel | undefined;
}

function start(held: Held): void {
  held.terminal.write(pasteOn);
  held.stop = held.terminal.onKeys((bytes) => {
    held.timer?.();
    held.timer = undefined;
    tell(held, held.parser.push(bytes));
    if (!held.parser.isWaiting()) return;
    held.timer = held.clock.after(escapeWaitMs, () => tell(held, held.parser.flush()));
  });
}

function stop(held: Held): void {
  held.timer?.();
  held.timer = undefined;
  held.stop?.();
  held.stop = undefined;
  held.terminal.write(pasteOff);
}

function tell(held: Held, keys: readonly Key[]): void {
  // Looked up for each key: one key may pass the next ones to another listener.
  for (const key of keys) held.hearers.at(-1)?.hear(key);
}
