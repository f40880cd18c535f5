import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { redactEvent } from './redact-run.ts';

const secret = `sk-ant-api03-${'Ab3dEf6hIj9k'.repeat(8)}`;
const mark = '[redacted anthropic key]';

const cases: readonly { what: string; type: string; body: Json; redacted: Json }[] = [
  {
    what: 'what was said, by text',
    type: 'began',
    body: { input: { messages: [{ role: 'user', content: `it is ${secret}` }] } },
    redacted: { input: { messages: [{ role: 'user', content: `it is ${mark}` }] } },
  },
  {
    what: 'arguments, by name',
    type: 'call',
    body: { effect: 'model', input: { turn: 1 }, outcome: { value: { input: { password: 'x', pin: 4 } } } },
    redacted: {
      effect: 'model',
      input: { turn: 1 },
      outcome: { value: { input: { password: '[redacted]', pin: 4 } } },
    },
  },
  {
    what: 'a question to a person',
    type: 'call',
    body: { effect: 'ask', input: { request: { input: { password: 'x' } } } },
    redacted: { effect: 'ask', input: { request: { input: { password: '[redacted]' } } } },
  },
  {
    what: 'an answer, and not the configuration beside it',
    type: 'wait',
    body: {
      signalled: { payload: { answer: { password: 'x' }, config: { tools: { password: { n: 1 } } } } },
    },
    redacted: {
      signalled: {
        payload: { answer: { password: '[redacted]' }, config: { tools: { password: { n: 1 } } } },
      },
    },
  },
  {
    what: 'no token of an intent',
    type: 'call',
    body: { effect: 'tool', input: { intent: { token: 'drawn', deadlineMs: 5 } }, outcome: { value: null } },
    redacted: {
      effect: 'tool',
      input: { intent: { token: 'drawn', deadlineMs: 5 } },
      outcome: { value: null },
    },
  },
  {
    what: 'no count that stands under the name of a tool, but the words beside it',
    type: 'began',
    body: {
      input: {
        state: { tallies: { toolFailures: { get_secret: 2 } }, withdrawn: { a: { reason: secret } } },
      },
    },
    redacted: {
      input: { state: { tallies: { toolFailures: { get_secret: 2 } }, withdrawn: { a: { reason: mark } } } },
    },
  },
];

describe('redactEvent()', () => {
  it.each(cases)('redacts $what', ({ type, body, redacted }) => {
    const once = redactEvent({ type, body });
    expect(once).toEqual({ type, body: redacted });
    expect(redactEvent(once)).toEqual(once);
  });
});
