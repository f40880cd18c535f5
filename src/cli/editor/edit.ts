import { unreachable } from '../../base/assert.ts';
import type { Key } from './key.ts';
import { nextGrapheme, nextWord, previousGrapheme, previousWord, wholePlace } from './moves.ts';

// Invariants: 0 <= cursor <= text.length; the text holds no half of a character, and the cursor is never inside one.

/** A text that is being written. */
export interface EditState {
  readonly text: string;
  readonly cursor: number;
  /** Earlier texts, the oldest first. */
  readonly history: readonly string[];
  /** Which of them is shown; as many as there are means the text of one's own. */
  readonly place: number;
  /** The text of one's own, while an earlier one is shown. */
  readonly draft: string;
  /** It was sent off by Enter. */
  readonly isSubmitted: boolean;
}

/** More is not taken in. */
export const maxTextCharacters = 100_000;

/** An empty text. */
export function beginEdit(history: readonly string[] = []): EditState {
  return { text: '', cursor: 0, history, place: history.length, draft: '', isSubmitted: false };
}

/** What a key makes of it. Keys that mean nothing here leave it as it is. */
export function edit(state: EditState, key: Key): EditState {
  switch (key.type) {
    case 'text':
    case 'paste':
      return insert(state, key.text);
    case 'enter':
      return enter(state);
    case 'new-line':
      return insert(state, '\n');
    case 'backspace':
      return remove(state, previousGrapheme(state.text, state.cursor), state.cursor);
    case 'delete':
      return remove(state, state.cursor, nextGrapheme(state.text, state.cursor));
    case 'delete-word':
      return remove(state, previousWord(state.text, state.cursor), state.cursor);
    case 'delete-word-right':
      return remove(state, state.cursor, nextWord(state.text, state.cursor));
    case 'delete-to-start':
      return remove(state, lineStart(state), state.cursor);
    case 'delete-to-end':
      return deleteToEnd(state);
    case 'tab':
    case 'escape':
    case 'interrupt':
    case 'end-of-input':
    case 'clear-screen':
    case 'unknown':
      return state;
    case 'left':
    case 'right':
    case 'word-left':
    case 'word-right':
    case 'home':
    case 'end':
    case 'up':
    case 'down':
      return move(state, key.type);
    default:
      return unreachable(key);
  }
}

/** Puts a text in the place of the whole. */
export function replaceText(state: EditState, text: string): EditState {
  const whole = clean(text).slice(0, maxTextCharacters);
  const cut = cleanEnd(whole);
  return { ...state, text: cut, cursor: cut.length };
}

type Move = 'left' | 'right' | 'word-left' | 'word-right' | 'home' | 'end' | 'up' | 'down';

function move(state: EditState, where: Move): EditState {
  const { text, cursor } = state;
  switch (where) {
    case 'left':
      return { ...state, cursor: previousGrapheme(text, cursor) };
    case 'right':
      return { ...state, cursor: nextGrapheme(text, cursor) };
    case 'word-left':
      return { ...state, cursor: previousWord(text, cursor) };
    case 'word-right':
      return { ...state, cursor: nextWord(text, cursor) };
    case 'home':
      return { ...state, cursor: lineStart(state) };
    case 'end':
      return { ...state, cursor: lineEnd(state) };
    case 'up':
      return lineStart(state) === 0 ? recall(state, state.place - 1) : moveLine(state, -1);
    case 'down':
      return lineEnd(state) === text.length ? recall(state, state.place + 1) : moveLine(state, 1);
    default:
      return unreachable(where);
  }
}

function insert(state: EditState, text: string): EditState {
  const { text: before, cursor } = state;
  const room = Math.max(0, maxTextCharacters - before.length);
  const added = cleanEnd(clean(text).slice(0, room));
  return {
    ...state,
    text: before.slice(0, cursor) + added + before.slice(cursor),
    cursor: cursor + added.length,
  };
}

/** Line breaks are of one kind, and half a character is none. */
function clean(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/\p{Cs}/gu, '\ufffd');
}

function cleanEnd(text: string): string {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? text.slice(0, -1) : text;
}

/** A backslash at the end means that there is more to come. */
function enter(state: EditState): EditState {
  const { text, cursor } = state;
  if (cursor === text.length && text.endsWith('\\'))
    return { ...state, text: `${text.slice(0, -1)}\n`, cursor };
  return { ...state, isSubmitted: true };
}

function remove(state: EditState, from: number, to: number): EditState {
  return { ...state, text: state.text.slice(0, from) + state.text.slice(to), cursor: from };
}

/** At the end of a line it is the line break that goes. */
function deleteToEnd(state: EditState): EditState {
  const end = lineEnd(state);
  return remove(state, state.cursor, end === state.cursor ? Math.min(end + 1, state.text.length) : end);
}

function lineStart({ text, cursor }: EditState): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: EditState): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

/** To the line above or below, as many characters from its beginning. */
function moveLine(state: EditState, step: -1 | 1): EditState {
  const offset = state.cursor - lineStart(state);
  const start =
    step === 1 ? lineEnd(state) + 1 : lineStart({ ...state, cursor: Math.max(0, lineStart(state) - 1) });
  const end = lineEnd({ ...state, cursor: start });
  return { ...state, cursor: wholePlace(state.text, Math.min(start + offset, end)) };
}

function recall(state: EditState, place: number): EditState {
  const { history } = state;
  if (place < 0 || place > history.length) return state;
  const draft = state.place === history.length ? state.text : state.draft;
  const text = place === history.length ? draft : (history[place] ?? '');
  return { ...replaceText(state, text), place, draft };
}
