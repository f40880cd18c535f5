import { afterEach, describe, expect, it } from 'vitest';
import { redact, redactJson, registerSecret } from './redact.ts';

/** A failing seed is printed and becomes a case of its own. */
const seeds = Array.from({ length: 400 }, (_, index) => index + 1);

/** Mulberry32: small, seeded, good enough to choose texts. */
function createRandom(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T; // The index is within the list, which is never empty.
}

const alphabets = {
  alnum: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  hex: '0123456789abcdef',
  url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-',
} as const;

function randomText(random: Random, alphabet: keyof typeof alphabets, length: number): string {
  const characters = alphabets[alphabet];
  return Array.from({ length }, () => characters.charAt(Math.floor(random() * characters.length))).join('');
}

/** A secret is what its public prefix announces: no part of `body` may survive. */
interface Secret {
  readonly text: string;
  readonly body: string;
}

const formats: readonly (readonly [prefix: string, alphabet: keyof typeof alphabets, length: number])[] = [
  ['sk-', 'alnum', 48],
  ['sk-proj-', 'url', 120],
  ['sk-svcacct-', 'url', 80],
  ['sk-ant-api03-', 'url', 93],
  ['sk-or-v1-', 'hex', 64],
  ['AIza', 'url', 35],
  ['ya29.', 'url', 60],
  ['AKIA', 'upper', 16],
  ['ASIA', 'upper', 16],
  ['ghp_', 'alnum', 36],
  ['gho_', 'alnum', 36],
  ['ghs_', 'alnum', 36],
  ['ghu_', 'alnum', 36],
  ['ghr_', 'alnum', 76],
  ['github_pat_', 'alnum', 82],
  ['glpat-', 'url', 20],
  ['hf_', 'alnum', 34],
  ['gsk_', 'alnum', 52],
  ['xai-', 'alnum', 80],
  ['pplx-', 'alnum', 48],
  ['r8_', 'alnum', 37],
  ['fw_', 'alnum', 22],
  ['csk-', 'alnum', 48],
  ['nvapi-', 'url', 64],
  ['xoxb-1234567890-', 'alnum', 24],
  ['sk_live_', 'alnum', 24],
  ['rk_live_', 'alnum', 24],
  ['whsec_', 'alnum', 32],
  ['npm_', 'alnum', 36],
  ['dapi', 'hex', 32],
  ['123456789:AA', 'url', 33],
  ['eyJhbGciOiJIUzI1NiJ9.eyJz', 'url', 60],
  ['-----BEGIN PRIVATE KEY-----\n', 'alnum', 64],
  ['Bearer ', 'alnum', 40],
  ['https://ada:', 'alnum', 12],
  ['x-api-key=', 'alnum', 32],
  ['password="', 'alnum', 10],
  ['"client_secret":"', 'url', 30],
  ['?access_token=', 'url', 30],
];

/** What must follow a prefix for the text to be what it seems. */
const suffixes: Readonly<Record<string, string>> = {
  'https://ada:': '@host.io/',
  'password="': '"',
  '"client_secret":"': '"',
  '-----BEGIN PRIVATE KEY-----\n': '\n-----END PRIVATE KEY-----',
};

function randomSecret(random: Random): Secret {
  const [prefix, alphabet, length] = pick(random, formats);
  const body = randomText(random, alphabet, length);
  return { text: prefix + body + (suffixes[prefix] ?? ''), body };
}

const phrases = (
  'the model answered with|status 429|after 3 attempts|because tokens per minute were used up;|request req_011CSHoEeqs5C35K2UUqR7Fy|for|' +
  'claude-sonnet-4-5-20250929|at https://api.example.com/v1/messages?beta=true|failed (code: rate_limit_exceeded),|see /var/log/task-runner.log:12|' +
  'and|550e8400-e29b-41d4-a716-446655440000|the key word,|a Bearer token,|Basic authentication,|"password" alone|retry in 1.5s|{"type":"tokens"}|' +
  'API key is invalid:|invalid x-api-key|max_tokens: 4096|sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855|disk-usage'
).split('|');

function randomProse(random: Random): string {
  const length = 1 + Math.floor(random() * 30);
  return Array.from({ length }, () => pick(random, phrases)).join(pick(random, [' ', '\n', '  ']));
}

/** What may stand right before a secret, and right after it. */
const before = [
  ' ',
  '\n',
  '(',
  '"',
  "'",
  '=',
  ':',
  ',',
  '`',
  '<',
  '[',
  '{',
  String.raw`\n`,
  String.raw`\t`,
  '%3D',
  '%20',
  '\u001B[31m',
  '…',
  '@',
  '/',
];
const after = [' ', '\n', ')', '"', "'", ',', '. ', ';', String.raw`\n`, '…', '<', '\u001B[0m'];

/** Six characters in a row would be too much of a secret to show. */
function leaks(text: string, body: string): boolean {
  for (let at = 0; at + 6 <= body.length; at += 1) if (text.includes(body.slice(at, at + 6))) return true;
  return false;
}

const undos: (() => void)[] = [];

afterEach(() => {
  for (const undo of undos.splice(0)) undo();
});

describe('redact(), for random texts,', () => {
  it('lets no secret of a known format survive, wherever it stands', () => {
    for (const seed of seeds) {
      const random = createRandom(seed);
      const { text, body } = randomSecret(random);
      const planted = `${randomProse(random)}${pick(random, before)}${text}${pick(random, after)}${randomProse(random)}`;
      for (const form of [
        planted,
        JSON.stringify({ message: planted }),
        JSON.stringify(JSON.stringify({ message: planted })),
      ]) {
        const redacted = redact(form);
        expect(leaks(redacted, body), `seed ${seed}: ${form}\n=> ${redacted}`).toBe(false);
        expect(redact(redacted), `seed ${seed}`).toBe(redacted);
      }
    }
  });

  it('lets no secret survive behind another name, as with seed 50831', () => {
    expect(redact('invalid x-api-key=password="EI8TDq0pn3"')).toBe('invalid x-api-key=password="[redacted]"');
  });

  it('lets no registered secret survive, in none of its forms', () => {
    const symbols = Array.from('/+=&"\\ %?#é');
    for (const seed of seeds) {
      const random = createRandom(seed);
      const secret = Array.from({ length: 10 + Math.floor(random() * 40) }, () =>
        random() < 0.15 ? pick(random, symbols) : randomText(random, 'alnum', 1),
      )
        .join('')
        .trim();
      undos.push(registerSecret(secret));
      const name = randomText(random, 'alnum', 1 + Math.floor(random() * 6));
      const forms = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        JSON.stringify(JSON.stringify(secret)).slice(3, -3),
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('base64url'),
        Buffer.from(`${name}:${secret}`).toString('base64'),
      ];
      for (const form of forms) {
        const redacted = redact(`${randomProse(random)} ${form} ${randomProse(random)}`);
        // The name before the secret may stay, and the character that holds bits of both.
        const core = form === forms[6] ? form.slice(Math.ceil(((name.length + 1) * 8) / 6)) : form;
        expect(leaks(redacted, core), `seed ${seed}: ${form} => ${redacted}`).toBe(false);
      }
      for (const undo of undos.splice(0)) undo();
    }
  });

  it('changes no prose', () => {
    for (const seed of seeds) {
      const prose = randomProse(createRandom(seed));
      expect(redact(prose), `seed ${seed}`).toBe(prose);
    }
  });

  it('changes nothing the second time, whatever fragments stand side by side', () => {
    undos.push(registerSecret('plain-horse-value'), registerSecret(']horse-value[redac'));
    const fragments = [
      'sk-',
      'sk-ant-',
      'AKIA',
      'ghp_',
      'eyJ',
      'Bearer ',
      'Basic ',
      'Digest a="b", ',
      'token',
      'api key',
      'key',
      'password',
      'cookie',
      'authorization',
      ': ',
      ':',
      '=',
      ' = ',
      '"',
      "'",
      '`',
      '\\',
      '\\"',
      '\\n',
      '\n',
      '%22',
      '%3D',
      '&quot;',
      '[redacted]',
      '[redacted api key]',
      '[',
      ']',
      '{',
      '}',
      '(',
      ')',
      '<',
      '>',
      ',',
      ', ',
      ';',
      '&',
      '?',
      '.',
      '@',
      '://',
      'https://',
      'a:b@',
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
      '--',
      'Headers.append: "',
      '" is an invalid header value',
      "invalid header value b'",
      'plain-horse-value',
      'horse-value[redac',
      'SecretStr(',
      'b',
      ' ',
      'Zk3vQ9xLw7Rt2YbN8mPc4HsD6fGj',
      '0123456789abcdef0123456789abcdef',
      'AIzaZk3vQ9xLw7Rt2YbN8m',
      'sid=abc; ',
      'hunter2',
      'swordfish',
      '****',
      'x',
    ];
    for (let seed = 1; seed <= 5000; seed += 1) {
      const random = createRandom(seed);
      const text = Array.from({ length: 2 + Math.floor(random() * 14) }, () => pick(random, fragments)).join(
        '',
      );
      const once = redact(text);
      expect(redact(once), `seed ${seed}: ${JSON.stringify(text)}`).toBe(once);
    }
  });

  it('lets no secret of a known format survive in JSON', () => {
    for (const seed of seeds) {
      const random = createRandom(seed);
      const { text, body } = randomSecret(random);
      const redacted = redactJson({ a: [{ note: `${randomProse(random)} ${text}` }], [` ${text}`]: seed });
      expect(leaks(JSON.stringify(redacted), body), `seed ${seed}: ${text}`).toBe(false);
      expect(redactJson(redacted), `seed ${seed}`).toEqual(redacted);
    }
  });
});
