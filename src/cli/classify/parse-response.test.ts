import { describe, expect, it } from 'vitest';
import type { Observation } from './observation.ts';
import { parseResponse } from './parse-response.ts';

interface Case {
  readonly name: string;
  readonly text: string;
  readonly seen: Observation;
}

const rateLimited = { status: 429, headers: { 'retry-after': '20' }, body: '{"error":{}}' };

const cases: readonly Case[] = [
  { name: 'blank space as nothing', text: ' \r\n\t\n', seen: {} },
  { name: 'a NUL as an error text', text: '\0', seen: { message: '\0' } },
  {
    name: 'a status line that is none as an error text',
    text: 'HTTP/1.1 9000 Over',
    seen: { message: 'HTTP/1.1 9000 Over' },
  },
  {
    name: 'HTTP in a sentence as an error text',
    text: 'HTTP 429: slow down',
    seen: { message: 'HTTP 429: slow down' },
  },
  { name: 'a cut status line', text: 'HTTP/2 503', seen: { status: 503, headers: {} } },
  {
    name: 'HTTP/1.1 with CR LF',
    text: 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 20\r\n\r\n{"error":{}}\r\n',
    seen: rateLimited,
  },
  {
    name: 'what curl -v prints',
    text: '* Connected to x\n> POST /v1 HTTP/2\n> authorization: Bearer x\n>\n< HTTP/2 429 \n< retry-after: 20\n<\n{ [12 bytes data]\n{"error":{}}',
    seen: rateLimited,
  },
  { name: 'HTTP/2', text: 'HTTP/2 429 \nretry-after: 20\n\n{"error":{}}', seen: rateLimited },
  {
    name: 'a paste that lost its blank line',
    text: 'HTTP/2 429\nretry-after: 20\n{"error":{}}',
    seen: rateLimited,
  },
  {
    name: 'the last of several heads: continue, proxy, redirect',
    text: 'HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 307 Moved\r\nlocation: /x\r\nretry-after: 1\r\n\r\nHTTP/1.1 429 Slow\r\nretry-after: 20\r\n\r\n{"error":{}}',
    seen: rateLimited,
  },
  {
    name: 'folded, repeated, broken and strange headers',
    text: 'HTTP/1.1 500 X\nA: 1\n a2\nno header\na: 3\n__proto__: x\nb:\n\nbody',
    seen: {
      status: 500,
      headers: Object.fromEntries([
        ['a', '1 a2, 3'],
        ['__proto__', 'x'],
        ['b', ''],
      ]),
      body: 'body',
    },
  },
  { name: 'a JSON body', text: '{"error":{"message":"no"}}', seen: { body: '{"error":{"message":"no"}}' } },
  { name: 'cut JSON as a body', text: '{"error":{"mess', seen: { body: '{"error":{"mess' } },
  { name: 'a list as a body', text: '[{"error":1}]', seen: { body: '[{"error":1}]' } },
  { name: 'a page as a body', text: '<html>', seen: { body: '<html>' } },
  {
    name: 'an event of a stream as a body',
    text: 'event: error\ndata: {}',
    seen: { body: 'event: error\ndata: {}' },
  },
  { name: 'a data line as a body', text: 'data: {}', seen: { body: 'data: {}' } },
  {
    name: 'an SDK text as an error text',
    text: 'fetch failed; cause: x\n',
    seen: { message: 'fetch failed; cause: x' },
  },
  {
    name: 'a case of the corpus, nulls left out, whatever else it carries',
    text: '{"id":"a","provider":"groq","transport":"http","status":429,"headers":{"Retry-After":2},"body":"b","errno":null,"message":null,"label":{"code":"X"}}',
    seen: { provider: 'groq', status: 429, headers: { 'retry-after': '2' }, body: 'b' },
  },
  {
    name: 'a network case of the corpus',
    text: '{"provider":"node","status":null,"headers":null,"body":null,"errno":"ECONNRESET","message":"m"}',
    seen: { provider: 'node', errno: 'ECONNRESET', message: 'm' },
  },
  {
    name: "a provider's own body that looks like a case",
    text: '{"provider":"x","status":429,"error":"y"}',
    seen: { body: '{"provider":"x","status":429,"error":"y"}' },
  },
  {
    name: 'a body with a status and a message of its own',
    text: '{"status":503,"message":"m"}',
    seen: { body: '{"status":503,"message":"m"}' },
  },
  {
    name: 'a case with a field of the wrong type as a body',
    text: '{"provider":"x","status":"429"}',
    seen: { body: '{"provider":"x","status":"429"}' },
  },
];

describe('parseResponse()', () => {
  it.each(cases)('reads $name', ({ text, seen }) => {
    expect(parseResponse(text)).toEqual(seen);
  });

  it('is done in time with a megabyte of heads, headers or braces', () => {
    for (const piece of ['HTTP/1.1 429\n\n', 'HTTP/1.1 429\na: b\n', 'a: b\n', '{"a":', ' \n']) {
      const text = `HTTP/1.1 429\n${piece.repeat(1_000_000 / piece.length)}`;
      expect(parseResponse(text).status).toBe(429);
    }
  }, 10_000);
});
