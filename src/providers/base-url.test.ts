import { describe, expect, it } from 'vitest';
import { RerailError } from '../errors/rerail-error.ts';
import { readBaseURL } from './base-url.ts';
import type { AddressRule } from './base-url.ts';

const rule: AddressRule = {
  provider: 'acme',
  place: 'The option "baseURL"',
  versionPath: '/v1',
  hasKey: true,
  allowInsecure: false,
};

function errorOf(given: unknown): RerailError {
  try {
    readBaseURL(given as string, rule);
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('readBaseURL()', () => {
  it.each([
    ['no scheme', 'api.acme.example/v1', 'in front: write it as in "https://api.acme.example/v1"'],
    ['a host and a port', 'localhost:11434', 'in front: write it as in "http://localhost:11434"'],
    ['a port too high', 'localhost:99999', 'in front: write it as in "https://host/v1"'],
    ['a user without scheme', 'me:hunter22@acme.example', 'in front: write it as in "https://host/v1"'],
    ['a query without scheme', 'acme.example/v1?k=hunter22', 'in front: write it as in "https://host/v1"'],
    ['a token', 'eyJhunter22.eyJhunter22.Sxhunter22', 'in front: write it as in "https://host/v1"'],
    ['a wrong scheme', 'ftp://acme.example', 'begins with "ftp://", which no provider speaks'],
    ['a socket', 'wss://acme.example/v1', 'begins with "wss://"'],
    ['nothing', '', 'is empty'],
    ['spaces only', '  \n', 'is empty'],
    ['a space inside', 'https://acme .example', 'has a space in it'],
    ['a broken host', 'https://[acme', 'is not an address'],
    ['only a scheme', 'https://', 'is not an address'],
    ['not a text', 42, 'must be a text such as "https://host/v1", got number'],
    ['an object', new URL('https://acme.example/v1'), 'got a URL object (its "href" is one)'],
    ['null', null, 'got null'],
    ['a password', 'https://me:hunter22@acme.example/v1', 'has a user name or password in it'],
    ['a user', 'https://hunter22@acme.example/v1', 'has a user name or password in it'],
    ['a query', 'https://acme.example/v1?key=hunter22', 'has a "?" in it'],
    ['a hash', 'https://acme.example/v1#hunter22', 'has a "#" in it'],
    [
      'the whole endpoint',
      'https://acme.example/v1/chat/completions',
      'ends in "/chat/completions", which Rerail adds itself: hand in "https://acme.example/v1"',
    ],
    ['the endpoint of messages', 'https://acme.example/v1/messages/', 'hand in "https://acme.example/v1"'],
    ['the endpoint of responses', 'https://acme.example/v1/responses', 'ends in "/responses"'],
    ['the endpoint of embeddings', 'https://acme.example/v1/embeddings', 'ends in "/embeddings"'],
    ['the list of models', 'https://acme.example/v1/models', 'ends in "/models"'],
    [
      'an endpoint of Gemini',
      'https://acme.example/v1beta/models/gemini-2.5-pro:generateContent',
      'hand in "https://acme.example/v1beta"',
    ],
    ['the native API of Ollama', 'http://127.0.0.1:11434/api/chat', 'hand in "http://127.0.0.1:11434"'],
    ['the version twice', 'https://acme.example/v1/v1', 'hand in "https://acme.example/v1"'],
    [
      'the version twice and a slash',
      'https://acme.example/api/v1/v1/',
      'hand in "https://acme.example/api/v1"',
    ],
    ['two versions', 'https://acme.example/v1/v1beta', 'ends in two versions'],
    ['a key in the clear', 'http://api.acme.example/v1', 'would send the key unencrypted'],
    ['a key in the clear to an address', 'http://8.8.8.8/v1', 'would send the key unencrypted'],
  ])('refuses %s in one sentence with cause and next step', (_title, given, words) => {
    const { message, code } = errorOf(given);
    expect(code).toBe('CONFIG_ERROR');
    expect(message).toContain('The option "baseURL" of acme ');
    expect(message).toContain(words);
    expect(message).not.toContain('hunter22');
    // One sentence: no full stop and space inside it.
    expect(message).not.toMatch(/\. [A-Z]/);
    expect(message).toMatch(/: |must be/);
  });

  it.each([
    ['https://acme.example/v1', 'https://acme.example/v1'],
    ['https://acme.example/v1/', 'https://acme.example/v1'],
    ['https://acme.example/v1///', 'https://acme.example/v1'],
    ['  https://acme.example/v1\n', 'https://acme.example/v1'],
    ['HTTPS://ACME.example/v1', 'https://acme.example/v1'],
    ['https://acme.example', 'https://acme.example/v1'],
    ['https://acme.example/', 'https://acme.example/v1'],
    ['https://acme.example/proxy/openai', 'https://acme.example/proxy/openai'],
    ['https://acme.example:8443/v1', 'https://acme.example:8443/v1'],
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1'],
    ['http://localhost:8000', 'http://localhost:8000/v1'],
    ['http://[::1]:8000/v1', 'http://[::1]:8000/v1'],
    ['http://192.168.1.20:8000/v1', 'http://192.168.1.20:8000/v1'],
    ['http://10.0.0.7/v1', 'http://10.0.0.7/v1'],
    ['http://vllm:8000/v1', 'http://vllm:8000/v1'],
    ['http://vllm.models.svc.cluster.local/v1', 'http://vllm.models.svc.cluster.local/v1'],
    ['http://host.docker.internal:11434', 'http://host.docker.internal:11434/v1'],
  ])('takes %s as %s', (given, expected) => {
    expect(readBaseURL(given, rule)).toBe(expected);
  });

  it('puts a version below a path only where the provider always has one', () => {
    const always = { ...rule, isVersionMissed: true };
    expect(readBaseURL('https://acme.example/anthropic', always)).toBe('https://acme.example/anthropic/v1');
    expect(readBaseURL('https://acme.example/anthropic/v1/', always)).toBe(
      'https://acme.example/anthropic/v1',
    );
    expect(readBaseURL('https://acme.example', { ...rule, versionPath: undefined })).toBe(
      'https://acme.example',
    );
  });

  it.each([
    { given: 'http://a:b@host/v1', says: 'set the key in the environment' },
    { given: 'http://host.example/v1', says: /write "https:\/\/"$/ },
    { given: 'https://host/v1/v1', says: 'write "https://host/v1"' },
    { given: 'https://host/v1/messages', says: 'write "https://host/v1"' },
  ])('advises no further option for $given where none can stand beside it', ({ given, says }) => {
    expect(() => readBaseURL(given, { ...rule, isAlone: true })).toThrow(says);
    expect(() => readBaseURL(given, { ...rule, isAlone: true })).not.toThrow(/apiKey|allowInsecure/);
  });

  it('lets http through where no key is sent, or where it is meant', () => {
    expect(readBaseURL('http://acme.example/v1', { ...rule, hasKey: false })).toBe('http://acme.example/v1');
    expect(readBaseURL('http://acme.example/v1', { ...rule, allowInsecure: true })).toBe(
      'http://acme.example/v1',
    );
  });
});
