import { describe, expect, it } from 'vitest';
import { redact } from '../base/redact.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { readApiKeys } from './api-key.ts';
import type { KeySource } from './api-key.ts';
import { readHeaders } from './custom-headers.ts';
import { openai } from './openai/openai.ts';
import { fingerprint, quotaKeyOf } from './quota-key.ts';

const core = 'Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3';
const source: KeySource = {
  provider: 'openai',
  variables: ['OPENAI_API_KEY'],
  environment: {},
  isRequired: true,
  isOwnServer: false,
  origin: 'model',
};

function thrownBy(work: () => unknown): RerailError {
  try {
    work();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const badKeys: readonly (readonly [title: string, key: string, words: string])[] = [
  ['a line break at its end', `sk-${core}\n`, 'ends in a line break'],
  ['a line break of Windows', `sk-${core}\r\n`, 'ends in a line break'],
  ['a line break inside', `sk-${core}\n${core}`, 'has a line break in it'],
  ['double quotes', `"sk-${core}"`, 'has quotes around it'],
  ['single quotes', `'sk-${core}'`, 'has quotes around it'],
  ['half a pair of quotes', `sk-${core}"`, 'has quotes around it'],
  ['a space in front', ` sk-${core}`, 'has spaces around it'],
  ['a space inside', `sk-${core} ${core}`, 'has a space in it'],
  ['the word Bearer', `Bearer sk-${core}`, 'begins with "Bearer"'],
  ['a whole header', `Authorization: Bearer sk-${core}`, 'begins with "Bearer"'],
  ['a line of an .env file', `OPENAI_API_KEY=sk-${core}`, 'is a whole line of an .env file'],
  ['an exported line', `export OPENAI_API_KEY=sk-${core}`, 'is a whole line of an .env file'],
  ['an invisible character', `sk-${core}\u200b`, 'no key has'],
  ['a letter that is not ASCII', `sk-${core}é`, 'no key has'],
  ['a control character', `sk-${core}\u0007`, 'no key has'],
  ['a variable that was not filled in', '${OPENAI_API_KEY}', 'is a placeholder'],
  ['a template', '<your key here>', 'is a placeholder'],
  ['a phrase of the documentation', 'your-api-key-here', 'is a placeholder'],
  ['the word undefined', 'undefined', 'is a placeholder'],
  ['a mask', 'sk-...abcd', 'is a placeholder'],
  ['nothing', '', 'is empty'],
  ['20,000 characters', core.repeat(1000), 'is longer than 16384 characters'],
  ['a key of Anthropic', `sk-ant-api03-${core}`, 'belongs to Anthropic'],
  ['a key of OpenRouter', `sk-or-v1-${core}`, 'belongs to OpenRouter'],
  ['a key of Groq', `gsk_${core}`, 'belongs to Groq'],
  ['a key of xAI', `xai-${core}`, 'belongs to xAI'],
  ['a key of Google', `AIza${core}`, 'belongs to Google'],
  ['a token of Hugging Face', `hf_${core}`, 'belongs to Hugging Face'],
];

describe('readApiKeys()', () => {
  it.each(badKeys)('refuses %s and never shows the key', (_title, apiKey, words) => {
    const error = thrownBy(() => readApiKeys({ ...source, apiKey }));
    expect(error.name).toBe('ModelError');
    expect(error.code).toBe('PROVIDER_NOT_CONFIGURED');
    expect(error.message).toContain('The option "apiKey" of openai ');
    expect(error.message).toContain(words);
    const everything = JSON.stringify(error) + String(error.stack);
    expect(everything).not.toContain(core.slice(0, 8));
    // Not even hidden: nothing that was in the key went into the message.
    expect(error.message).not.toContain('[redacted');
    expect(error.message).not.toMatch(/\. [A-Z]/);
  });

  it('says which variable holds the bad key', () => {
    const environment = { OPENAI_API_KEY: `"sk-${core}"` };
    const error = thrownBy(() => readApiKeys({ ...source, environment }));
    expect(error.message).toBe('The key in OPENAI_API_KEY of openai has quotes around it: remove them');
  });

  it.each([{}, { OPENAI_API_KEY: '' }, { OPENAI_API_KEY: '  ' }])(
    'says in one sentence what to set when there is none in %j',
    (environment) => {
      const error = thrownBy(() => readApiKeys({ ...source, environment }));
      expect(error.message).toBe(
        'openai has no API key: set OPENAI_API_KEY in the environment, or hand in the option "apiKey"',
      );
      expect(error.failure.provider).toEqual({ provider: 'openai' });
      expect(error.origin).toBe('model');
    },
  );

  it('names all variables that count, and is an EmbeddingError for embeddings', () => {
    const variables = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];
    const error = thrownBy(() =>
      readApiKeys({ ...source, provider: 'gemini', variables, origin: 'embedding' }),
    );
    expect(error.name).toBe('EmbeddingError');
    expect(error.message).toContain('set GEMINI_API_KEY or GOOGLE_API_KEY in');
  });

  it('refuses a key that is no text', () => {
    const error = thrownBy(() => readApiKeys({ ...source, apiKey: 12_345_678 as unknown as string }));
    expect(error.message).toContain('must be a text, got number');
  });

  it('takes the option before the environment, and the first variable that is set', () => {
    const environment = { FIRST: ' ', SECOND: `sk-${core}2`, THIRD: `sk-${core}3` };
    const variables = ['FIRST', 'SECOND', 'THIRD'];
    expect(readApiKeys({ ...source, variables, environment })).toEqual([`sk-${core}2`]);
    expect(readApiKeys({ ...source, variables, environment, apiKey: `sk-${core}1` })).toEqual([
      `sk-${core}1`,
    ]);
  });

  it.each(['test', 'test-key', 'dummy', 'lm-studio', 'EMPTY', `sk-proj-${core}`, `sk-${core}`])(
    'takes %s, which may well be a key',
    (apiKey) => {
      expect(readApiKeys({ ...source, apiKey })).toEqual([apiKey]);
    },
  );

  it('takes the key of anybody at a server of the user', () => {
    const apiKey = `sk-or-v1-${core}`;
    expect(readApiKeys({ ...source, isOwnServer: true, apiKey })).toEqual([apiKey]);
  });

  it('needs none where none is needed', () => {
    expect(readApiKeys({ ...source, isRequired: false })).toEqual([undefined]);
  });

  it('makes the key a secret wherever it appears', () => {
    const apiKey = 'plainlookingbutsecret42';
    expect(redact(`got ${apiKey}`)).toContain(apiKey);
    const models = [openai('gpt-5.4', { apiKey }), openai('gpt-5.4', { apiKey })];
    expect(redact(`got ${apiKey}`)).not.toContain(apiKey);
    expect(models).toHaveLength(2);
  });
});

describe('readHeaders()', () => {
  it.each([
    ['a line break', { 'x-team': `a\n${core}` }, 'The header "x-team" has a line break in its value'],
    ['a break of Windows', { 'x-team': `${core}\r\nx: y` }, 'has a line break in its value'],
    ['a control character', { 'x-team': `${core}\u0000` }, 'has a character in its value'],
    ['a letter beyond Latin-1', { 'x-team': `${core}→` }, 'has a character in its value'],
    ['a space in its name', { 'x team': core }, 'has a character in its name'],
    ['an empty name', { '': core }, 'has a character in its name'],
    ['a name of the transport', { 'Content-Length': '5' }, 'is set by Rerail itself'],
    ['no text', { 'x-team': 5 as unknown as string }, 'must be a text, got number'],
  ])('refuses a header with %s and never shows its value', (_title, headers, words) => {
    const error = thrownBy(() => readHeaders(headers));
    expect(error.code).toBe('CONFIG_ERROR');
    expect(error.message).toContain(words);
    expect(JSON.stringify(error)).not.toContain(core);
  });

  it('writes names in lower case, and leaves out what has no value', () => {
    const secret = 'quitesecretcookievalue77';
    expect(readHeaders({ 'X-Team': 'a', Authorization: `Bearer ${secret}`, 'x-none': undefined })).toEqual({
      'x-team': 'a',
      authorization: `Bearer ${secret}`,
    });
    expect(readHeaders(undefined)).toEqual({});
  });

  it('has what is secret hidden by the model that sends it', () => {
    const secret = 'quitesecretcookievalue78';
    const model = openai('gpt-5.4', { headers: { Authorization: `Bearer ${secret}` } });
    expect(redact(`seen: ${secret}`)).not.toContain(secret);
    expect(model.provider).toBe('openai');
  });
});

describe('quotaKeyOf()', () => {
  it('tells keys and hosts apart, and shows neither key nor path', () => {
    const at = (baseURL: string, secret?: string): string =>
      quotaKeyOf({ provider: 'openai', baseURL, secret });
    const key = at('https://a.example/v1', core);
    expect(key).toMatch(/^openai https:\/\/a\.example [0-9a-f]{12}$/);
    expect(key).not.toContain(core.slice(0, 6));
    expect(at('https://a.example/v2', core)).toBe(key);
    expect(at('https://b.example/v1', core)).not.toBe(key);
    expect(at('https://a.example/v1', `${core}x`)).not.toBe(key);
    expect(at('https://a.example/v1')).toBe('openai https://a.example no-key');
    expect(fingerprint(core)).toHaveLength(12);
  });
});
