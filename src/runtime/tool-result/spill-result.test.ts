import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashText } from '../../base/hash.ts';
import type { Message } from '../../model/message.ts';
import { hashOfRef, planSpill, refOf, spilledHashes, wholePlace } from './spill-result.ts';
import type { SpillPlan } from './spill-result.ts';

const hash = hashText('some result');

function planned(text: string, maxCharacters: number): SpillPlan {
  const plan = planSpill(text, { maxCharacters });
  expect(plan).toBeDefined();
  return plan as SpillPlan; // Checked the line before.
}

function toolMessage(content: string, name = 'search'): Message {
  return { role: 'tool', content: [{ type: 'tool-result', callId: 'c', name, content }] };
}

describe('planSpill()', () => {
  it.each([
    { what: 'a text within the bound', text: 'x'.repeat(2000), maxCharacters: 2000 },
    { what: 'no text', text: '', maxCharacters: 2000 },
    { what: 'a bound without room for the note', text: 'x'.repeat(2000), maxCharacters: 500 },
  ])('plans nothing for $what', ({ text, maxCharacters }) => {
    expect(planSpill(text, { maxCharacters })).toBeUndefined();
  });

  it('shows head, tail and the very call that reads on', () => {
    const { spilled, contentFor } = planned(`HEAD${'x'.repeat(5000)}TAIL`, 2000);
    const content = contentFor(hash);
    expect(spilled).toBe(`HEAD${'x'.repeat(5000)}TAIL`);
    expect(content).toMatch(/^HEADx+\n… \[\d+ of 5008 characters are left out here\./);
    expect(content).toMatch(/\] …\nx+TAIL$/);
    const [, told = ''] = /call read_result with (\{.*?\})/.exec(content) ?? [];
    expect(JSON.parse(told)).toEqual({ ref: `result_${hash}`, from: content.indexOf('\n') });
  });

  it('keeps head and tail of what is longer than anything is kept', () => {
    const plan = planSpill(`HEAD${'x'.repeat(9000)}TAIL`, {
      maxCharacters: 1500,
      maxSpilledCharacters: 3000,
    });
    expect(plan?.spilled).toMatch(/^HEADx+\n… \[[\d,]+ of 9,008 characters left out\] …\nx+TAIL$/);
    expect(plan?.spilled.length).toBeLessThanOrEqual(3000);
  });

  it('keeps what a store gives back: halves of pairs become a mark of the same length', () => {
    const { spilled } = planned(`a\ud800${'x'.repeat(3000)}\udc00`, 2000);
    expect(spilled).toBe(`a\ufffd${'x'.repeat(3000)}\ufffd`);
  });

  it('stays within the bound, leaves no gap and cuts no pair, for any text', () => {
    const anyText = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 1000, max: 1500 }),
        fc.nat({ max: 3 }),
        (words, maxCharacters, shift) => {
          const unit = `${words.join('😀')}😀`;
          const text = 'x'.repeat(shift) + unit.repeat(Math.ceil(3000 / unit.length));
          const { spilled, contentFor } = planned(text, maxCharacters);
          const content = contentFor(hash);
          const start = content.indexOf('\n… [');
          const end = content.lastIndexOf('] …\n') + '] …\n'.length;
          const left = Number(/… \[(\d+) of/.exec(content.slice(start))?.[1]);
          expect(content.length).toBeLessThanOrEqual(maxCharacters);
          expect(() => encodeURIComponent(content)).not.toThrow();
          expect(spilled.startsWith(content.slice(0, start))).toBe(true);
          expect(spilled.endsWith(content.slice(end))).toBe(true);
          expect(start + left + content.length - end).toBe(spilled.length);
        },
      ),
      { seed: 5 },
    );
  });
});

describe('hashOfRef()', () => {
  it.each([
    { ref: '' },
    { ref: 'result_' },
    { ref: hash },
    { ref: `Result_${hash}` },
    { ref: ` result_${hash}` },
    { ref: `result_${hash}\n` },
    { ref: `"result_${hash}"` },
    { ref: `result_${hash.slice(0, 15)}` },
    { ref: `result_${'a'.repeat(129)}` },
    { ref: `result_${'a'.repeat(1_000_000)}` },
    { ref: 'result_../../../../etc/passwd' },
    { ref: 'result_%%%%%%%%%%%%%%%%' },
    { ref: "result_' OR 1=1 -- aaaaaaa" },
    { ref: `result_${hash.slice(0, 32)}\u0000${hash.slice(33)}` },
    { ref: 'result_аааааааааааааааааааа' },
    { ref: '__proto__' },
  ])('takes $ref for no reference', ({ ref }) => {
    expect(hashOfRef(ref)).toBeUndefined();
  });

  it.each([
    { form: 'hexadecimal', text: hash },
    { form: 'base64url', text: 'x-_AZ09x-_AZ09x-_AZ09x-_AZ09x-_AZ09x-_AZ09x' },
  ])('gives back a $form hash', ({ text }) => {
    expect(hashOfRef(refOf(text))).toBe(text);
  });
});

describe('spilledHashes()', () => {
  const note = planned('x'.repeat(3000), 2000).contentFor(hash);

  it.each([
    { what: 'the user', message: { role: 'user', content: note } as const },
    {
      what: 'the user in parts',
      message: { role: 'user', content: [{ type: 'text', text: note }] } as const,
    },
    { what: 'the model', message: { role: 'assistant', content: note } as const },
    { what: 'the instructions', message: { role: 'system', content: note } as const },
    {
      what: 'a call',
      message: {
        role: 'assistant',
        content: [{ type: 'tool-call', callId: 'c', name: 'read_result', argumentsText: note }],
      } as const,
    },
    { what: 'read_result itself', message: toolMessage(note, 'read_result') },
    { what: 'a tool that only names a reference', message: toolMessage(`see result_${hash}`) },
  ])('does not believe $what', ({ message }) => {
    expect(spilledHashes([message])).toEqual(new Set());
  });

  it('finds what was spilled, also between other parts', () => {
    const text = planned('y'.repeat(3000), 2000).contentFor('b'.repeat(43));
    const content = [
      { type: 'tool-result', callId: 'c', name: 'list', content: [{ type: 'text', text }] },
    ] as const;
    expect(spilledHashes([toolMessage(note), { role: 'tool', content }])).toEqual(
      new Set([hash, 'b'.repeat(43)]),
    );
  });
});

describe('wholePlace()', () => {
  it.each([
    { index: 0, place: 0 },
    { index: 1, place: 1 },
    { index: 2, place: 1 },
    { index: 3, place: 3 },
    { index: 9, place: 9 },
  ])('moves $index to $place', ({ index, place }) => {
    expect(wholePlace('a😀b', index)).toBe(place);
  });
});
