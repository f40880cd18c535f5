import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findInvention } from './check-claim.ts';
import { amountWords } from './claim-words.ts';

const facts = [
  'The run failed with SERVER_ERROR: 503 from the upstream "eu-west", see https://status.example.org/a',
  'Attempt 4 at the model openai/gpt-5.2 failed with SERVER_ERROR after 4.2 s',
  'The tool "look_up" succeeded 3 times; limit 4,000 tokens',
];
const names = ['shop', 'look_up', 'gpt-5.2', 'openai', 'openai/gpt-5.2', 'order-17', 'Desk 9', 'TIMEOUT'];
const evidence = { facts, names };

describe('findInvention() finds', () => {
  it.each([
    { what: 'a number', text: 'It failed 7 times.', found: '7' },
    { what: 'a number within a longer one', text: 'It was given 40 tokens.', found: '40' },
    { what: 'a part of a number', text: 'It was given 4,00 tokens.', found: '4,00' },
    { what: 'a number that only a name holds', text: 'There were 9 desks and 17 orders.', found: '9' },
    { what: 'the version of a model as a number', text: 'It took 5.2 s.', found: '5.2' },
    { what: 'a percentage', text: 'About 75% of it worked.', found: '75%' },
    { what: 'a number as a word', text: 'It failed seven times.', found: 'seven' },
    { what: 'an ordinal', text: 'The fifth attempt failed.', found: 'fifth' },
    { what: 'a number of several words', text: 'It failed three hundred times.', found: 'hundred' },
    { what: 'a number of known words', text: 'It took twenty-four days.', found: 'twenty-four' },
    { what: 'a number of known digits', text: 'It had 3 503 errors.', found: '3 503' },
    { what: 'digits of another script', text: 'It failed ٧ times.', found: '٧' },
    { what: 'wide digits', text: 'It failed ７ times.', found: '7' },
    { what: 'a code', text: 'It failed with RATE_LIMITED.', found: 'RATE_LIMITED' },
    { what: 'a code of one word', text: 'It ended in an INTERNAL error.', found: 'INTERNAL' },
    { what: 'a code that is only a name', text: 'It failed with TIMEOUT.', found: 'TIMEOUT' },
    { what: 'a part of a code', text: 'It was a SERVER problem.', found: 'SERVER' },
    { what: 'a code in other letters', text: 'It failed with SЕRVER_ERROR.', found: 'SЕRVER_ERROR' },
    { what: 'a hidden sign in a code', text: 'SERVER<U+200B>_ERROR it was.', found: 'SERVER<U+200B>_ERROR' },
    { what: 'a quoted name', text: 'The tool "refund" failed.', found: 'refund' },
    { what: 'a name in single quotes', text: "It called 'refund' first.", found: 'refund' },
    { what: 'a name in curly quotes', text: 'It called “refund” first.', found: 'refund' },
    { what: 'a name in a quote that stays open', text: 'It called "refund first.', found: 'refund first.' },
    { what: 'code', text: 'Type `rm -rf`.', found: 'rm -rf' },
    { what: 'a name with an underscore', text: 'It called send_mail first.', found: 'send_mail' },
    { what: 'a name in camel case', text: 'It called sendMail first.', found: 'sendMail' },
    { what: 'another version of a model', text: 'It asked gpt-6 instead.', found: 'gpt-6' },
    { what: 'another model of a provider', text: 'It asked openai/o again.', found: 'openai/o' },
    { what: 'a tool without quotes', text: 'The tool refund failed.', found: 'refund' },
    { what: 'a tool by its kind', text: 'The refund tool failed.', found: 'refund' },
    { what: 'a model without quotes', text: 'It asked the model claude-haiku.', found: 'claude-haiku' },
    { what: 'an address', text: 'Enter your key at https://evil.example.', found: 'https://evil.example' },
    { what: 'a bare address', text: 'Enter your key at evil.example.', found: 'evil.example' },
    { what: 'a path', text: 'Look at /etc/passwd for more.', found: '/etc/passwd' },
    { what: 'a mail address', text: 'Write to help@evil.example now.', found: 'help@evil.example' },
  ])('$what', ({ text, found }) => {
    expect(findInvention(text, evidence)).toBe(found);
  });

  it.each([
    { text: 'The provider was down, and every attempt failed.' },
    { text: 'Attempt 4 failed with SERVER_ERROR after 4.2 s.' },
    { text: 'All four attempts failed; the model gpt-5.2 didn’t answer in time.' },
    {
      text: 'The tool "look_up" succeeded 3 times, so the lookup tool is fine.'.replace('lookup', 'look_up'),
    },
    { text: 'It was read-only, step by step, and the 4th attempt got a 503.' },
    { text: 'The limit of 4000 tokens was never the problem.' },
    { text: '“eu-west” answered with an error (503), and I/O over HTTP was OK.' },
    { text: "The model couldn't be reached; the provider's own page is https://status.example.org/a." },
    { text: 'The tool failed; the tool repeatedly returned nothing, and no other tool was used.' },
  ])('nothing in: $text', ({ text }) => {
    expect(findInvention(text, evidence)).toBeUndefined();
  });
});

describe('in any sentence', () => {
  const frames = [
    '%s',
    'It was %s',
    'After that, %s failed.',
    'The run (%s) ended',
    'It said: %s!',
    'so “%s” it is',
  ];
  const frame = fc.constantFrom(...frames);
  const put = (text: string, invented: string): string => text.replace('%s', () => invented);

  it('an invented number is found', () => {
    const known = new Set([503, 4, 4.2, 3, 4000]);
    const number = fc.oneof(
      fc.nat(),
      fc.float({ min: 1, max: 1000, noNaN: true }).map((n) => Number(n.toFixed(2))),
    );
    fc.assert(
      fc.property(
        frame,
        number.filter((n) => !known.has(n)),
        (text, n) => {
          expect(findInvention(put(text, String(n)), evidence)).toBeDefined();
          expect(findInvention(put(text, n.toLocaleString('en-US')), evidence)).toBeDefined();
        },
      ),
    );
  });

  it('an invented number in words is found', () => {
    const known = new Set([3, 4]);
    const invented = [...amountWords].filter(([, value]) => !known.has(value)).map(([word]) => word);
    fc.assert(
      fc.property(frame, fc.constantFrom(...invented), (text, word) => {
        expect(findInvention(put(text, word), evidence)).toBeDefined();
      }),
    );
  });

  it('an invented code is found', () => {
    const code = fc.stringMatching(/^[A-Z]{2,8}(_[A-Z]{2,8}){0,2}$/).filter((text) => !shortForms.has(text));
    fc.assert(
      fc.property(frame, code, (text, invented) => {
        expect(findInvention(put(text, invented), evidence)).toBeDefined();
      }),
    );
  });

  it('an invented name is found', () => {
    const plain = fc.stringMatching(/^[bcdfghjkmnpqrtvwxz]{5,12}$/);
    const name = fc.oneof(
      fc.tuple(plain, plain).map((parts) => parts.join('_')),
      fc.tuple(plain, plain).map((parts) => `${parts[0]}X${parts[1]}`),
      fc.tuple(plain, fc.nat(99)).map(([word, n]) => `${word}-${n}`),
      plain.map((word) => `"${word}"`),
      plain.map((word) => `the tool ${word}`),
      plain.map((word) => `the ${word} model`),
    );
    fc.assert(
      fc.property(frame, name, (text, invented) => {
        expect(findInvention(put(text, invented), evidence)).toBeDefined();
      }),
    );
  });
});

const shortForms = new Set([
  'AI',
  'API',
  'CLI',
  'CPU',
  'DNS',
  'HTTP',
  'HTTPS',
  'ID',
  'IO',
  'IP',
  'JSON',
  'LLM',
  'OK',
  'PDF',
  'SQL',
  'TLS',
  'UI',
  'URL',
  'USD',
  'UTC',
  'XML',
]);
