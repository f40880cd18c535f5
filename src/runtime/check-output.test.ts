import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputCheck } from '../model/tool.ts';
import { checkOutput } from './check-output.ts';

const anything = { check: (value: unknown): InputCheck => ({ type: 'valid', value }) };
const issues = (count: number) => ({
  check: (): InputCheck => ({
    type: 'invalid',
    issues: Array.from({ length: count }, (_, index) => ({
      path: index === 0 ? '' : `items[${index}].price`,
      message: 'must be a number',
    })),
  }),
});
const fenced = (text: string, language = 'json') => `\`\`\`${language}\n${text}\n\`\`\``;

describe('checkOutput() refuses', () => {
  it.each([
    { name: 'an empty answer', text: ' \n', problem: /^The answer is empty\.$/ },
    { name: 'plain words', text: 'It is 42.', problem: /^The answer is not JSON: / },
    { name: 'an object that was cut off', text: '{"a": {"b": 1}', problem: /not JSON/ },
    { name: 'a list that was cut off', text: '[{"a":1},{"a":2}', problem: /not JSON/ },
    { name: 'words before what was cut off', text: 'Here: {"a": [1, 2', problem: /not JSON/ },
    { name: 'a value before one that was cut off', text: '{"a":1}\n{"a":', problem: /not JSON/ },
    { name: 'a string that was cut off', text: '{"a": "}', problem: /not JSON/ },
    { name: 'a fence that was cut off', text: '```json\n{"a":1}', problem: /not JSON/ },
    { name: 'two values', text: '{"a":1}\n{"a":2}', problem: /not JSON/ },
    { name: 'two fences', text: `${fenced('{"a":1}')}\nor\n${fenced('{"a":2}')}`, problem: /not JSON/ },
    { name: 'a source before the value', text: 'As [1] says: {"a":1}', problem: /not JSON/ },
    { name: 'a value inside of words in brackets', text: 'say {name: {"a":1}}', problem: /not JSON/ },
    { name: 'single quotes, which are read in more than one way', text: "{'a': 1}", problem: /not JSON/ },
    { name: 'more brackets than words have', text: `${'{x} '.repeat(101)}{"a":1}`, problem: /not JSON/ },
    {
      name: 'what nests too deeply',
      text: '['.repeat(5000) + ']'.repeat(5000),
      problem: /^The answer nests more than 1000 levels deep\.$/,
    },
    {
      name: 'what nests too deeply among words',
      text: `Here: ${'['.repeat(5000)}${']'.repeat(5000)}`,
      problem: /deep/,
    },
    {
      name: 'what is too long',
      text: `"${'a'.repeat(4_000_000)}"`,
      problem: /^The answer has 4000002 characters; at most 4000000 are read\.$/,
    },
  ])('$name', async ({ text, problem }) => {
    expect(await checkOutput(text, anything)).toEqual({
      type: 'invalid',
      problem: expect.stringMatching(problem) as string,
    });
  });

  it('what the schema objects to, path by path', () => {
    expect(checkOutput('{}', issues(2))).toEqual({
      type: 'invalid',
      problem: 'the answer: must be a number\nitems[1].price: must be a number',
    });
  });

  it('with a bounded list of objections', () => {
    const { problem } = checkOutput('{}', issues(1000)) as { readonly problem: string };
    expect(problem.split('\n')).toHaveLength(11);
    expect(problem).toMatch(/\nand 990 more$/u);
  });

  it('also where the schema takes its time', async () => {
    const checked = checkOutput('{}', { check: async () => issues(1).check() });
    expect(await checked).toEqual({ type: 'invalid', problem: 'the answer: must be a number' });
  });
});

describe('checkOutput() takes', () => {
  it.each([
    { name: 'JSON as it stands', text: ' {"a":"```"}\n', value: { a: '```' } },
    { name: 'a value that is no object', text: '42', value: 42 },
    { name: 'JSON behind a byte order mark', text: '\uFEFF{"a":1}', value: { a: 1 } },
  ])('$name', ({ text, value }) => {
    expect(checkOutput(text, anything)).toEqual({ type: 'valid', value });
  });

  it.each([
    { name: 'a fence', text: fenced('{"a":1}'), value: { a: 1 } },
    { name: 'a fence without a language', text: fenced('[1]', ''), value: [1] },
    { name: 'a fence around a text', text: fenced('"yes"'), value: 'yes' },
    { name: 'words around a fence', text: `Here:\n${fenced('{"a":1}')}\nEnjoy.`, value: { a: 1 } },
    { name: 'words around it', text: 'Sure! {"a":{"b":"}"}} as asked.', value: { a: { b: '}' } } },
    { name: 'other brackets around it', text: 'For {name} [see above]: {"a":1}', value: { a: 1 } },
  ])('$name away', ({ text, value }) => {
    expect(checkOutput(text, anything)).toEqual({ type: 'valid', value, isRepaired: true });
  });

  it('what an asynchronous schema made of it', async () => {
    const check = async (): Promise<InputCheck> => ({ type: 'valid', value: 'made' });
    expect(await checkOutput(fenced('{}'), { check })).toEqual({
      type: 'valid',
      value: 'made',
      isRepaired: true,
    });
  });
});

describe('checkOutput() on anything', () => {
  const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
  // Without double quotes: a text between two of them is JSON as it stands.
  const words = fc.stringMatching(/^[a-z ,.'!?]{0,40}$/u);

  it('finds the value among words', async () => {
    await fc.assert(
      fc.asyncProperty(container, words, words, async (value, before, after) => {
        const text = JSON.stringify(value);
        expect(await checkOutput(`${before} ${text} ${after}`, anything)).toMatchObject({
          type: 'valid',
          value: JSON.parse(text) as unknown,
        });
      }),
    );
  });

  it('never takes a piece of a container for the whole', async () => {
    await fc.assert(
      fc.asyncProperty(container, fc.nat(), words, async (value, cut, before) => {
        const text = JSON.stringify(value);
        const piece = text.slice(0, 1 + (cut % (text.length - 1)));
        expect(await checkOutput(`${before} ${piece}`, anything)).toMatchObject({ type: 'invalid' });
      }),
    );
  });
});
