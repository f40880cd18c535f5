import { describe, expect, it } from 'vitest';
import { redact, registerSecret } from './redact.ts';

/** Each is repeated until the text is long; what is slow for one of them is slow for whoever sends it. */
const fragments = [
  'sk-',
  'a',
  'A1',
  '-',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '-----BEGIN ',
  '://',
  '://a:b',
  'https://a:/@',
  '@',
  '%',
  '%22',
  String.raw`\n`,
  '\\',
  String.raw`\"`,
  '"',
  "'",
  ' ',
  '\n',
  'eyJ',
  'eyJ.',
  'eyJhbGciOiJI',
  'SG.',
  'AKIA',
  'ghp_',
  ':AA',
  '12345678:AA',
  '0123456789abcdef',
  '.aaaaaaaaaaaaaaaa',
  'LS0tLS1CRUdJTi',
  'key',
  'token=',
  'token: ',
  "token='",
  'token: [ "a", ',
  'token%3D%22',
  '"token":"',
  'password:a',
  '--token ',
  '<token>',
  'token=SecretStr(',
  'cookie: ',
  '"cookie: ',
  '\ncookie: a',
  'authorization: a ',
  'Bearer ',
  'Bearer a1',
  'Digest a="',
  'Digest a=b, ',
  'Basic ',
  'Headers.append: "',
  "invalid header value b'",
  '?key=',
  '?sig=a',
  '[redacted]',
  '[redacted',
  'plain-horse-valu',
];

const smallCharacters = 20_000;
const growth = 8;

describe('redact()', () => {
  it.each(fragments)('takes time linear in the length of %j repeated', (fragment) => {
    const undo = registerSecret('plain-horse-value');
    try {
      const small = repeated(fragment, smallCharacters);
      const large = repeated(fragment, smallCharacters * growth);
      redact(small); // So that no pattern is compiled while the clock runs.
      // Eight times the text takes eight times as long, and 64 times if the time is quadratic.
      const isLinear = (): boolean => fastest(large) < fastest(small) * growth * 3 + 5;
      // Another process may take the machine for a moment, but not three times at the same place.
      expect(isLinear() || isLinear() || isLinear()).toBe(true);
    } finally {
      undo();
    }
  });
});

function repeated(fragment: string, characters: number): string {
  return fragment.repeat(Math.ceil(characters / fragment.length));
}

function fastest(text: string): number {
  const times = [1, 2, 3].map(() => {
    // Processor time, for the clock also counts what other processes take.
    const start = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
