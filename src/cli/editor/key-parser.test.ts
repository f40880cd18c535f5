import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Key } from './key.ts';
import { createKeyParser } from './key-parser.ts';

function parse(...chunks: readonly (string | Uint8Array)[]): readonly Key[] {
  const parser = createKeyParser();
  const keys = chunks.flatMap((chunk) => [
    ...parser.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
  ]);
  return [...keys, ...parser.flush()];
}

describe('the key parser', () => {
  it.each([
    {
      what: 'an unknown sequence is no text',
      bytes: '\u001b[99;99zx',
      keys: [{ type: 'unknown' }, { type: 'text', text: 'x' }],
    },
    { what: 'half a sequence is no text', bytes: '\u001b[1;5', keys: [{ type: 'unknown' }] },
    {
      what: 'a control that means nothing',
      bytes: '\u0000\u001d',
      keys: [{ type: 'unknown' }, { type: 'unknown' }],
    },
    { what: 'an Escape alone', bytes: '\u001b', keys: [{ type: 'escape' }] },
    { what: 'two Escapes', bytes: '\u001b\u001b', keys: [{ type: 'escape' }, { type: 'escape' }] },
    { what: 'arrows of both kinds', bytes: '\u001b[A\u001bOB', keys: [{ type: 'up' }, { type: 'down' }] },
    {
      what: 'words with Ctrl and with Alt',
      bytes: '\u001b[1;5D\u001bf',
      keys: [{ type: 'word-left' }, { type: 'word-right' }],
    },
    { what: 'Alt-Enter', bytes: '\u001b\r', keys: [{ type: 'new-line' }] },
    {
      what: 'Home, End and Delete',
      bytes: '\u001b[H\u001b[4~\u001b[3~',
      keys: [{ type: 'home' }, { type: 'end' }, { type: 'delete' }],
    },
    { what: 'text and Enter', bytes: 'ab\r', keys: [{ type: 'text', text: 'ab' }, { type: 'enter' }] },
  ])('reads $what', ({ bytes, keys }) => expect(parse(bytes)).toEqual(keys));

  it('takes whatever is pasted for text, also what looks like a key', () => {
    expect(parse('\u001b[200~a\r\nb\u0003\u001b[A', '\u001b[20', '1~\r')).toEqual([
      { type: 'paste', text: 'a\nb\u0003\u001b[A' },
      { type: 'enter' },
    ]);
  });

  it('puts a character together that came in two pieces', () => {
    const bytes = Buffer.from('ä');
    expect(parse(bytes.subarray(0, 1), bytes.subarray(1))).toEqual([{ type: 'text', text: 'ä' }]);
  });

  it('reads the same keys in whatever pieces they come', () => {
    const sequence = fc.constantFrom(
      'a',
      'ä',
      '👍',
      '\r',
      '\u001b[A',
      '\u001b[1;5C',
      '\u001bOF',
      '\u001b[200~x\ry\u001b[201~',
      '\u0003',
    );
    fc.assert(
      fc.property(
        fc.array(sequence, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
        (parts, sizes) => {
          const whole = Buffer.from(parts.join(''));
          const chunks: Uint8Array[] = [];
          for (let start = 0, turn = 0; start < whole.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            chunks.push(whole.subarray(start, start + size));
            start += size;
          }
          expect(joined(parse(...chunks))).toEqual(joined(parse(whole)));
        },
      ),
    );
  });

  it('holds a paste of any length within a bound', () => {
    const [key] = parse(`\u001b[200~${'x'.repeat(1_500_000)}\u001b[201~`);
    expect(key).toMatchObject({ type: 'paste' });
    expect(key !== undefined && 'text' in key ? key.text.length : 0).toBe(1_000_000);
  });
});

/** Pieces of text beside each other are one text, however they came. */
function joined(keys: readonly Key[]): readonly Key[] {
  return keys.reduce<Key[]>((list, key) => {
    const last = list.at(-1);
    if (last?.type === 'text' && key.type === 'text')
      list[list.length - 1] = { type: 'text', text: last.text + key.text };
    else list.push(key);
    return list;
  }, []);
}
