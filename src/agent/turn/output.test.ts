import { describe, expect, it } from 'vitest';
import { describeOutput } from '../../model/output-schema.ts';
import { reaskMessage } from './output.ts';

describe('describeOutput()', () => {
  it('ends with the whole schema, and asks for nothing but JSON', () => {
    const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
    const text = describeOutput(schema);
    expect(JSON.parse(text.split('\n').at(-1) ?? '')).toEqual(schema);
    expect(text).toContain('nothing but that JSON');
  });
});

describe('reaskMessage()', () => {
  it('says what is wrong and what to send', () => {
    expect(reaskMessage('price: must be a number')).toBe(
      'Your answer does not have the form that was asked for:\nprice: must be a number\n' +
        'Send the whole answer again, with this put right, as one JSON value and nothing else.',
    );
  });
});
