import { afterEach, describe, expect, it } from 'vitest';
import { redact, registerSecret } from './redact.ts';

const undos: (() => void)[] = [];

function register(value: string): () => void {
  const undo = registerSecret(value);
  undos.push(undo);
  return undo;
}

afterEach(() => {
  for (const undo of undos.splice(0)) undo();
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('registerSecret()', () => {
  const common = [
    'short',
    'pass123',
    'password',
    'Password',
    'localhost',
    'undefined',
    'production',
    '12345678',
    '123456789012345',
    'your-api-key',
    'YOUR_API_KEY',
    'your-openai-api-key-here',
    'changeme',
    'xxxxxxxxxxxx',
    '********',
    '<your-key>',
    '${API_KEY}',
    'redacted',
    'anthropic key',
    '[redacted]',
    '        ',
    'x'.repeat(20_000),
  ];

  it.each(common)('ignores %j, which is too short, too common or too long', (value) => {
    register(value);
    const text = `before ${value} after`;
    expect(redact(text)).toBe(text);
  });

  it('hides a value only while it is registered', () => {
    const undo = register('plain-horse-value');
    expect(redact('with plain-horse-value.')).toBe('with [redacted].');
    undo();
    expect(redact('with plain-horse-value.')).toBe('with plain-horse-value.');
  });

  it('hides a value as long as one of two registrations holds', () => {
    const undo = register('plain-horse-value');
    register('plain-horse-value');
    undo();
    undo();
    expect(redact('with plain-horse-value.')).toBe('with [redacted].');
  });

  it('leaves out the spaces, line breaks and quotes around a value', () => {
    register(' "plain-horse-value"\n');
    expect(redact('with plain-horse-value.')).toBe('with [redacted].');
  });

  it('hides the longer of two values of which one begins with the other', () => {
    register('plain-horse');
    register('plain-horse-value');
    expect(redact('with plain-horse-value.')).toBe('with [redacted].');
  });

  const secret = 'q/Z+8"k&é\\w=5 t😀9';
  const forms: readonly (readonly [string, string])[] = [
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(secret))],
    ['in JSON with escaped slashes', JSON.stringify(secret).replaceAll('/', String.raw`\/`)],
    [
      'in JSON without other alphabets',
      JSON.stringify(secret).replaceAll(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    ],
    ['in an address', encodeURIComponent(secret)],
    [
      'in an address in lower case',
      encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ['in an address twice', encodeURIComponent(encodeURIComponent(secret))],
    ['in a form', new URLSearchParams({ v: secret }).toString().slice(2)],
  ];

  it.each(forms)('hides a value %s', (_name, form) => {
    register(secret);
    expect(redact(`a ${form} b`)).toMatch(/^a [\\"]*\[redacted\][\\"]* b$/);
  });

  it('hides a value in base64, alone and after a name', () => {
    const value = 'plain-horse/value?';
    register(value);
    expect(redact(`a ${base64(value)} b`)).toBe('a [redacted] b');
    expect(redact(`a ${Buffer.from(value).toString('base64url')} b`)).toBe('a [redacted] b');
    expect(redact(`a ${encodeURIComponent(base64(`${value}\n`))}`)).toMatch(/^a \[redacted\]/);
    for (const name of ['a', 'ab', 'abc', 'somebody']) {
      const rest = redact(`a ${base64(`${name}:${value}`)} b`);
      expect(rest).toContain('[redacted] b');
      expect(rest.length).toBeLessThan(`a ${base64(`${name}:`)}=[redacted] b`.length);
    }
    expect(redact(`a ${base64(`${value}:x`)} b`)).toBe('a [redacted] b');
  });

  it('hides a value of several lines however its line breaks are written, and each long line of it', () => {
    const lines = ['first line', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4', 'last'];
    register(lines.join('\n'));
    for (const lineBreak of [
      '\n',
      '\r\n',
      '\n    ',
      String.raw`\n`,
      String.raw`\\n`,
      String.raw`\r\n`,
      '%0A',
      '%0D%0A',
      ' ',
    ]) {
      expect(redact(`a ${lines.join(lineBreak)} b`), `line break ${JSON.stringify(lineBreak)}`).toBe(
        'a [redacted] b',
      );
    }
    expect(redact(`2: ${lines[1]}`)).toBe('2: [redacted]');
    expect(redact('the first line, and the last')).toBe('the first line, and the last');
  });

  it('hides a long value, and what is left of it where it was cut', () => {
    const value = Array.from({ length: 3000 }, (_, index) => ((index * 7919) % 36).toString(36)).join('');
    register(value);
    expect(redact(`a ${value} b`)).toBe('a [redacted] b');
    expect(redact(`a ${value.slice(0, 1500)}`).length).toBeLessThan(600);
  });

  it('finds a value that has no letters, and one that is not valid Unicode', () => {
    register('!§$%&/()=?');
    register('\uD800 broken pair');
    expect(redact('a !§$%&/()=? b \uD800 broken pair c')).toBe('a [redacted] b [redacted] c');
  });

  const head = 'abcdefghijklmnopqrstuvwxyz0123456789.';
  it.each([
    { alike: 'at the beginning', many: 10_000, value: (index: number) => `tenant-key-${index}-of-many` },
    {
      alike: 'in a long beginning',
      many: 1000,
      value: (index: number) => `${head}${index * 7919}.tenant-${index}`,
    },
    {
      alike: 'in beginning and end',
      many: 500,
      value: (index: number) => `${head}${1e6 + index * 7919}+${1e6 + index}.${head}`,
    },
  ])('hides every one of $many values that are alike $alike, as fast as one', ({ value, many: count }) => {
    const values = Array.from({ length: count }, (_, index) => value(index));
    const forget = values.map((each) => register(each));
    expect(redact(values.join(' ')).replaceAll('[redacted]', '').trim()).toBe('');
    expect(redact(base64(values.at(-1) ?? ''))).toBe('[redacted]');
    const many = fastestMs(`401 for ${values.at(-7)}, ${head} `.repeat(20));
    for (const undo of forget.slice(1)) undo();
    expect(redact(`as ${values[7]}`)).toBe(`as ${values[7]}`);
    expect(redact(`as ${values[0]}`)).toBe('as [redacted]');
    const one = fastestMs(`401 for ${values[0]}, ${head} `.repeat(20));
    // A matcher that tried each of them would take a thousand times as long.
    expect(many).toBeLessThan(one * 40 + 5);
  });

  it('finds a value by whatever part of it no encoding changes', () => {
    const values = ['+/ab cdefgh ijkl', 'a+b/c+d/e+f/longer-run/x', '!!tail-of-it', 'abc+defghijkl'];
    for (const value of values) register(value);
    for (const value of values) {
      for (const form of [
        value,
        JSON.stringify(value).slice(1, -1),
        encodeURIComponent(value),
        base64(value),
      ])
        expect({ form, shown: redact(`x ${form} y`) }).toEqual({ form, shown: 'x [redacted] y' });
    }
  });
});

function fastestMs(text: string): number {
  const times = [1, 2, 3, 4, 5].map(() => {
    const start = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
