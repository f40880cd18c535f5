import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginEdit, edit, maxTextCharacters, replaceText } from './edit.ts';
import type { EditState } from './edit.ts';
import type { Key, KeyName } from './key.ts';

/** Types keys into an empty text. A plain text stands for itself, a name in angle brackets for a key. */
function type(keys: string, history: readonly string[] = []): EditState {
  const parsed = keys.match(/<[a-z-]+>|[^<]+/g) ?? [];
  return parsed.reduce((state, part) => edit(state, toKey(part)), beginEdit(history));
}

function toKey(part: string): Key {
  return part.startsWith('<') ? { type: part.slice(1, -1) as KeyName } : { type: 'text', text: part };
}

/** The text with a bar where the cursor stands. */
function shown({ text, cursor }: EditState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

describe('edit()', () => {
  it.each([
    {
      does: 'does nothing at the beginning',
      keys: '<backspace><left><delete-word><delete-to-start>',
      result: '|',
    },
    {
      does: 'does nothing at the end',
      keys: 'ab<right><delete><word-right><delete-word-right>',
      result: 'ab|',
    },
    { does: 'puts text where the cursor is', keys: 'ac<left>b', result: 'ab|c' },
    { does: 'moves over a whole emoji', keys: 'a👨‍👩‍👧b<left><left>', result: 'a|👨‍👩‍👧b' },
    { does: 'removes a whole emoji', keys: 'a👨‍👩‍👧<backspace>', result: 'a|' },
    { does: 'removes a letter with its accent', keys: 'e\u0301<backspace>', result: '|' },
    { does: 'goes to the ends of the line', keys: 'one<new-line>two<home>', result: 'one\n|two' },
    {
      does: 'removes to the beginning of the line',
      keys: 'one<new-line>two<delete-to-start>',
      result: 'one\n|',
    },
    { does: 'removes to the end of the line', keys: 'one two<word-left><delete-to-end>', result: 'one |' },
    { does: 'joins lines at the end of one', keys: 'a<new-line>b<up><end><delete-to-end>', result: 'a|b' },
    { does: 'removes the word before the cursor', keys: 'git commit  <delete-word>', result: 'git |' },
    {
      does: 'removes the word after the cursor',
      keys: 'git commit<home><delete-word-right>',
      result: '| commit',
    },
    {
      does: 'keeps the column from line to line',
      keys: 'abcd<new-line>ef<new-line>ghij<up>',
      result: 'abcd\nef|\nghij',
    },
    { does: 'begins a line after a backslash', keys: 'one\\<enter>two', result: 'one\ntwo|' },
  ])('$does', ({ keys, result }) => expect(shown(type(keys))).toBe(result));

  it('sends off by Enter, and by nothing that was pasted', () => {
    const pasted = edit(beginEdit(), { type: 'paste', text: 'rm -rf build\r\ny\r' });
    expect(pasted).toMatchObject({ text: 'rm -rf build\ny\n', isSubmitted: false });
    expect(edit(pasted, { type: 'enter' }).isSubmitted).toBe(true);
  });

  it('goes through what was typed before, and comes back to what was being typed', () => {
    const history = ['first', 'second'];
    expect(shown(type('draft<up>', history))).toBe('second|');
    expect(shown(type('draft<up><up><up>', history))).toBe('first|');
    expect(shown(type('draft<up><up><down><down>', history))).toBe('draft|');
  });

  it('takes in no more than it can hold', () => {
    const full = replaceText(beginEdit(), 'x'.repeat(maxTextCharacters - 1));
    const state = edit(full, { type: 'paste', text: '👍👍' });
    expect(state.text).toHaveLength(maxTextCharacters - 1);
  });

  it('leaves a valid text and a cursor within it, whatever is typed', () => {
    const names: readonly KeyName[] = [
      'enter', 'new-line', 'tab', 'escape', 'interrupt', 'end-of-input', 'backspace', 'delete', 'left', 'right', 'up',
      'down', 'home', 'end', 'word-left', 'word-right', 'delete-word', 'delete-word-right', 'delete-to-start',
      'delete-to-end', 'clear-screen', 'unknown',
    ]; // prettier-ignore
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('👨‍👩‍👧', '\ud83d', '\ude00', 'a\nb', '\\', 'e\u0301', ' '),
    );
    const key: fc.Arbitrary<Key> = fc.oneof(
      fc.constantFrom(...names).map((name): Key => ({ type: name })),
      text.map((typed): Key => ({ type: 'text', text: typed })),
      text.map((pasted): Key => ({ type: 'paste', text: pasted })),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), fc.array(text, { maxLength: 4 }), (keys, history) => {
        let state = beginEdit(history);
        for (const next of keys) {
          state = edit(state, next);
          expect(state.cursor).toBeGreaterThanOrEqual(0);
          expect(state.cursor).toBeLessThanOrEqual(state.text.length);
          expect(state.text).not.toMatch(/\p{Cs}/u);
          expect(state.text.slice(0, state.cursor)).not.toMatch(/\p{Cs}/u);
        }
      }),
      { numRuns: 300 },
    );
  });
});
