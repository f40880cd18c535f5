import { TextDecoder } from 'node:util';
import type { Key, KeyName } from './key.ts';

/** Makes keys of what a terminal sends. Sequences and characters may come in any pieces. */
export interface KeyParser {
  readonly push: (bytes: Uint8Array) => readonly Key[];
  /** No more has come for a while: an Escape that stood alone was the key itself. */
  readonly flush: () => readonly Key[];
  /** Whether something is kept that may be the beginning of a sequence. */
  readonly isWaiting: () => boolean;
}

const maxPasteCharacters = 1_000_000;
// No sequence of a key is longer; what is would hold back everything after it.
const maxSequenceLength = 32;

export function createKeyParser(): KeyParser {
  const held: Held = { decoder: new TextDecoder(), rest: '', paste: undefined };
  return {
    push: (bytes) => {
      held.rest += held.decoder.decode(bytes, { stream: true });
      return takeKeys(held, false);
    },
    flush: () => (held.paste === undefined ? takeKeys(held, true) : []),
    isWaiting: () => held.rest !== '',
  };
}

interface Held {
  readonly decoder: TextDecoder;
  rest: string;
  /** What has been pasted so far, while the end of it has not come. */
  paste: string | undefined;
}

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

function takeKeys(held: Held, isOver: boolean): readonly Key[] {
  const keys: Key[] = [];
  while (held.rest !== '') {
    // Bounded: each round takes a part of the rest, or ends.
    const key = held.paste === undefined ? takeKey(held, isOver) : takePaste(held);
    if (key === 'incomplete') break;
    if (key !== undefined) keys.push(key);
  }
  return keys;
}

type Taken = Key | 'incomplete' | undefined;

function takePaste(held: Held): Taken {
  const end = held.rest.indexOf(pasteEnd);
  if (end >= 0) {
    const text = addPaste(held, held.rest.slice(0, end));
    held.rest = held.rest.slice(end + pasteEnd.length);
    held.paste = undefined;
    return { type: 'paste', text: text.replaceAll(/\r\n?/g, '\n') };
  }
  // The last characters may be the beginning of the mark.
  const sure = Math.max(0, held.rest.length - pasteEnd.length + 1);
  held.paste = addPaste(held, held.rest.slice(0, sure));
  held.rest = held.rest.slice(sure);
  return 'incomplete';
}

function addPaste({ paste = '' }: Held, text: string): string {
  return (paste + text).slice(0, maxPasteCharacters);
}

function takeKey(held: Held, isOver: boolean): Taken {
  const first = held.rest.charAt(0);
  if (first === '\u001b') return takeEscape(held, isOver);
  const control = controls[first];
  if (control !== undefined) return take(held, 1, { type: control });
  const text = /^\P{Cc}+/u.exec(held.rest)?.[0];
  // The controls beyond ASCII are no keys of a terminal that speaks UTF-8.
  if (text === undefined) return take(held, 1, { type: 'unknown' });
  return take(held, text.length, { type: 'text', text });
}

function take(held: Held, length: number, key: Key): Key {
  held.rest = held.rest.slice(length);
  return key;
}

const controls: Readonly<Record<string, KeyName>> = {
  '\u0001': 'home',
  '\u0002': 'left',
  '\u0003': 'interrupt',
  '\u0004': 'end-of-input',
  '\u0005': 'end',
  '\u0006': 'right',
  '\u0008': 'backspace',
  '\u0009': 'tab',
  '\u000a': 'new-line',
  '\u000b': 'delete-to-end',
  '\u000c': 'clear-screen',
  '\u000d': 'enter',
  '\u000e': 'down',
  '\u0010': 'up',
  '\u0015': 'delete-to-start',
  '\u0017': 'delete-word',
  '\u007f': 'backspace',
};

/** After Escape: keys with Alt. */
const altKeys: Readonly<Record<string, KeyName>> = {
  '\r': 'new-line',
  '\n': 'new-line',
  b: 'word-left',
  f: 'word-right',
  d: 'delete-word-right',
  '\u007f': 'delete-word',
  '\u0008': 'delete-word',
};

/** What comes after `ESC [` or `ESC O`, with its parameters. */
const sequences: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '3~': 'delete',
  '4~': 'end',
  '7~': 'home',
  '8~': 'end',
  '1;3C': 'word-right',
  '1;5C': 'word-right',
  '1;9C': 'word-right',
  '1;3D': 'word-left',
  '1;5D': 'word-left',
  '1;9D': 'word-left',
  '3;3~': 'delete-word-right',
  '3;5~': 'delete-word-right',
  '13;2u': 'new-line',
  '13;3u': 'new-line',
  '27;2;13~': 'new-line',
};

function takeEscape(held: Held, isOver: boolean): Taken {
  const { rest } = held;
  if (rest.startsWith(pasteStart)) {
    held.rest = rest.slice(pasteStart.length);
    held.paste = '';
    return undefined;
  }
  const after = rest.slice(1);
  const sequence = /^(?:\[([0-9;:<=>?]*[@-~])|O([0-9;]*[A-Za-z]))/.exec(after);
  if (sequence !== null) {
    const name = sequences[sequence[1] ?? sequence[2] ?? ''] ?? 'unknown';
    return take(held, 1 + sequence[0].length, { type: name });
  }
  const isOpen = /^(?:[[O][0-9;:<=>?]*)?$/.test(after) && rest.length < maxSequenceLength;
  if (isOpen && !isOver) return 'incomplete';
  const alt = altKeys[rest.charAt(1)];
  if (alt !== undefined) return take(held, 2, { type: alt });
  // What follows an unknown Escape sequence is not typed text.
  if (isOpen && rest.length > 1) return take(held, rest.length, { type: 'unknown' });
  return take(held, 1, { type: 'escape' });
}
