import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countRejection,
  judgeApproval,
  judgeRejections,
  judgeVerification,
  noRejections,
  readAnswer,
  readVerification,
  rejectionText,
} from './approval.ts';
import { visible } from '../../base/printable.ts';
import type { NoKind } from './approval.ts';
import type { PersonRequest } from '../run-outcome.ts';

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const circular: Record<string, unknown> = { approved: 'yes' };
circular['self'] = circular;
const throwing = {
  get approved(): boolean {
    throw new Error('no');
  },
};
const sly = {
  get approved(): boolean {
    return true;
  },
};
const throwingProxy = new Proxy(
  {},
  {
    getOwnPropertyDescriptor: () => {
      throw new Error('trap');
    },
  },
);

describe('readAnswer()', () => {
  it.each<{ readonly name: string; readonly answer: unknown }>([
    { name: 'nothing', answer: undefined },
    { name: 'null', answer: null },
    { name: 'a number', answer: 1 },
    { name: 'an empty text', answer: '' },
    { name: 'a letter', answer: 'y' },
    { name: 'a yes with a condition', answer: 'yes, but only half of it' },
    { name: 'the word true', answer: 'true' },
    { name: 'an empty object', answer: {} },
    { name: 'a flag as text', answer: { approved: 'true' } },
    { name: 'a flag as number', answer: { approved: 1 } },
    { name: 'an unknown field', answer: { ok: true } },
    { name: 'an unknown word', answer: { decision: 'maybe' } },
    { name: 'one good field and one that says nothing', answer: { approved: true, decision: 'later' } },
    { name: 'a list', answer: [true] },
    { name: 'a promise', answer: Promise.resolve(true) },
    { name: 'a boxed true', answer: Object(true) },
    { name: 'an inherited yes', answer: Object.create({ approved: true }) },
    { name: 'a Proxy of a yes', answer: new Proxy({ approved: true }, {}) },
    { name: 'a throwing Proxy', answer: throwingProxy },
    { name: 'a revoked Proxy', answer: revoked.proxy },
    { name: 'a throwing getter', answer: throwing },
    { name: 'a getter that says yes', answer: sly },
    { name: 'a circular object', answer: circular },
    { name: 'a function', answer: () => true },
    { name: 'a symbol', answer: Symbol('yes') },
    { name: 'a bigint', answer: 1n },
    { name: 'a yes with a zero-width space', answer: 'y\u200bes' },
  ])('takes $name for a no that could not be understood', ({ answer }) => {
    expect(readAnswer(answer)).toEqual({
      verdict: 'no',
      kind: 'unreadable',
      reason: 'the answer could not be understood',
    });
  });

  it.each<{ readonly answer: unknown }>([
    { answer: false },
    { answer: ' No ' },
    { answer: 'rejected' },
    { answer: { approved: false } },
    { answer: { type: 'reject' } },
    { answer: { approved: true, decision: 'reject' } },
    { answer: { approve: true, approved: false } },
    { answer: { approved: 'true', verdict: 'deny' } },
  ])('takes $answer for a no', ({ answer }) => {
    expect(readAnswer(answer)).toEqual({ verdict: 'no', kind: 'said-no', reason: 'a person denied it' });
  });

  it.each<{ readonly answer: unknown }>([
    { answer: 'absent' },
    { answer: { type: 'absent' } },
    { answer: { approved: true, type: 'absent' } },
  ])('takes $answer for a no because nobody is there', ({ answer }) => {
    expect(readAnswer(answer)).toEqual({
      verdict: 'no',
      kind: 'absent',
      reason: 'no person was available to approve it',
    });
  });

  it.each<{ readonly answer: unknown }>([
    { answer: true },
    { answer: 'approve' },
    { answer: ' Approved\n' },
    { answer: 'ALLOW' },
    { answer: 'yes' },
    { answer: { approved: true } },
    { answer: { approve: true, approved: undefined } },
    { answer: { decision: 'Approve' } },
    { answer: { type: 'approve' } },
    { answer: { verdict: 'yes' } },
    { answer: { type: 'approval', id: 'x', approved: true } },
  ])('takes $answer for a yes', ({ answer }) => {
    expect(readAnswer(answer)).toEqual({ verdict: 'yes', reason: 'a person approved it' });
  });

  it('keeps the words of the person, as one safe line without secrets', () => {
    const reason = 'too much\u001b[2J\n for key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
    const read = readAnswer({ approved: false, reason });
    expect(read.reason).toMatch(/^a person denied it: too much<U\+001B>\[2J for key \[redacted/);
  });

  it('never throws, and says yes to nothing that was not made to be one', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withDate: true, withMap: true }), (answer) => {
        const isWord = typeof answer === 'string' && /^\s*(approved?|allow|yes)\s*$/i.test(answer);
        expect(readAnswer(answer).verdict).toBe(answer === true || isWord ? 'yes' : 'no');
      }),
    );
  });
});

const request: Extract<PersonRequest, { readonly type: 'approval' }> = {
  type: 'approval',
  id: 'approval-1',
  tool: 'refund',
  input: { orderId: '7', items: [{ cents: 500 }] },
  hash: 'abc',
  why: 'money',
  expiresAt: 1000,
};

const call = { name: request.tool, input: request.input, hash: request.hash };

describe('judgeApproval()', () => {
  it.each([
    { name: 'of another tool', other: { ...call, name: 'pay' } },
    { name: 'with other arguments', other: { ...call, input: { orderId: '8' } } },
    { name: 'of another hash', other: { ...call, hash: 'abd' } },
  ])('takes a yes for a no where what would run is a call $name', ({ other }) => {
    expect(judgeApproval(request, true, { atMs: 1, call: other })).toMatchObject({ kind: 'other-call' });
  });

  it.each<{ readonly name: string; readonly answer: unknown; readonly atMs: number; readonly kind: string }>([
    { name: 'late', answer: true, atMs: 1001, kind: 'expired' },
    { name: 'at no time at all', answer: true, atMs: NaN, kind: 'expired' },
    { name: 'with another id', answer: { approved: true, id: 'approval-2' }, atMs: 1, kind: 'other-call' },
    { name: 'with an id that is none', answer: { approved: true, id: null }, atMs: 1, kind: 'other-call' },
    { name: 'with another hash', answer: { approved: true, hash: 'abd' }, atMs: 1, kind: 'other-call' },
    { name: 'for another tool', answer: { approved: true, tool: 'pay' }, atMs: 1, kind: 'other-call' },
    {
      name: 'with changed arguments',
      answer: { approved: true, input: { orderId: '7', items: [{ cents: 5 }] } },
      atMs: 1,
      kind: 'other-call',
    },
    {
      name: 'with fewer arguments, under another name',
      answer: { approved: true, args: { orderId: '7' } },
      atMs: 1,
      kind: 'other-call',
    },
    { name: 'unreadable', answer: {}, atMs: 1, kind: 'unreadable' },
    { name: 'as a no', answer: false, atMs: 1, kind: 'said-no' },
  ])('takes an answer $name for a no', ({ answer, atMs, kind }) => {
    expect(judgeApproval(request, answer, { atMs, call })).toMatchObject({ verdict: 'no', kind });
  });

  it.each<{ readonly name: string; readonly answer: unknown }>([
    { name: 'a plain yes at the last moment', answer: 'yes' },
    { name: 'the request with a yes', answer: { ...request, approved: true } },
    {
      name: 'the request after a way through JSON',
      answer: JSON.parse(JSON.stringify({ ...request, approved: true })),
    },
  ])('takes $name', ({ answer }) => {
    expect(judgeApproval(request, answer, { atMs: 1000, call }).verdict).toBe('yes');
  });
});

describe('readVerification()', () => {
  it.each<{ readonly answer: unknown }>([
    { answer: undefined },
    { answer: true },
    { answer: 'yes' },
    { answer: 'it has perhaps happened' },
    { answer: {} },
    { answer: { happened: 'unknown' } },
    { answer: { happened: 'true' } },
    { answer: { happened: true, type: 'did-not-happen' } },
    { answer: { result: 5 } },
    { answer: new Proxy({ happened: true }, {}) },
    { answer: ['happened'] },
  ])('knows no more after $answer', ({ answer }) => {
    expect(readVerification(answer)).toEqual({ type: 'unknown' });
  });

  it.each<{ readonly answer: unknown; readonly means: unknown }>([
    { answer: { happened: true }, means: { type: 'happened' } },
    { answer: { happened: true, result: { id: 7 } }, means: { type: 'happened', result: { id: 7 } } },
    { answer: { happened: true, result: null }, means: { type: 'happened', result: null } },
    { answer: { happened: true, result: new Date(NaN) }, means: { type: 'happened', result: {} } },
    { answer: { type: 'happened', result: 'ok' }, means: { type: 'happened', result: 'ok' } },
    { answer: { type: 'in-doubt', happened: true }, means: { type: 'happened' } },
    { answer: ' Happened ', means: { type: 'happened' } },
    { answer: { happened: false, result: 5 }, means: { type: 'did-not-happen' } },
    { answer: 'did-not-happen', means: { type: 'did-not-happen' } },
    { answer: "It didn't happen".slice(3), means: { type: 'did-not-happen' } },
    { answer: { type: 'did_not_happen' }, means: { type: 'did-not-happen' } },
  ])('reads $answer', ({ answer, means }) => {
    expect(readVerification(answer)).toEqual(means);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (answer, result) => {
        expect(typeof readVerification(answer).type).toBe('string');
        expect(typeof readVerification({ happened: true, result }).type).toBe('string');
      }),
    );
  });
});

describe('judgeVerification()', () => {
  const doubt: Extract<PersonRequest, { readonly type: 'in-doubt' }> = {
    type: 'in-doubt',
    id: 'doubt-1',
    tool: 'refund',
    input: { cents: 5 },
    hash: 'abc',
    why: 'the process died',
  };

  it.each([
    { answer: { happened: true, id: 'doubt-2' }, type: 'unknown' },
    { answer: { happened: false, hash: 'x' }, type: 'unknown' },
    { answer: { happened: false, input: { cents: 6 } }, type: 'unknown' },
    { answer: { ...doubt, happened: false }, type: 'did-not-happen' },
    { answer: 'happened', type: 'happened' },
  ])('takes $answer for $type', ({ answer, type }) => {
    expect(judgeVerification(doubt, answer).type).toBe(type);
  });
});

describe('rejectionText()', () => {
  it.each([
    { answer: false, says: 'A person said no to this call of "refund".' },
    { answer: { approved: false, reason: 'ask Ann' }, says: 'Their words: "ask Ann".' },
    { answer: 'perhaps', says: 'the answer was not a clear approval: it is denied' },
    { answer: { approved: true, id: 'x' }, says: 'answered about another one: it is denied' },
    { answer: { type: 'absent' }, says: 'needs the approval of a person, and none is available in this run' },
  ])('tells the model: $says', ({ answer, says }) => {
    const verdict = judgeApproval(request, answer, { atMs: 1, call });
    const text = verdict.verdict === 'no' ? rejectionText('refund', verdict) : '';
    expect(text).toContain(says);
    expect(text).toContain('It was not run. Do not call it again with these arguments');
    expect(text).toContain('do not try to get around it');
  });
});

describe('judgeRejections()', () => {
  const after = (hashes: readonly string[], kind: NoKind = 'said-no') =>
    hashes.reduce((rejections, hash) => countRejection(rejections, { hash, kind }), noRejections);

  it.each([
    { name: 'three in a run', hashes: ['a', 'b', 'c'], why: 'a person said no 3 times in this run' },
    { name: 'two of the same call', hashes: ['a', 'a'], why: 'a person said no 2 times to the same call' },
    {
      name: 'hashes with names of old',
      hashes: ['__proto__', '__proto__'],
      why: 'a person said no 2 times to the same call',
    },
  ])('stops after $name', ({ hashes, why }) => {
    expect(judgeRejections(after(hashes))).toEqual({ type: 'stop', reason: 'rejected', why });
  });

  it.each([
    { hashes: ['a', 'b', 'c'], why: 'no person was available to approve 3 calls of this run' },
    { hashes: ['a', 'a'], why: 'no person was available to approve a call that was made 2 times' },
  ])('says that $why', ({ hashes, why }) => {
    expect(judgeRejections(after(hashes, 'absent'))).toEqual({ type: 'stop', reason: 'rejected', why });
  });

  it('names the person where one of several noes was his', () => {
    const mixed = countRejection(after(['a', 'b'], 'absent'), { hash: 'c', kind: 'said-no' });
    expect(judgeRejections(mixed)).toMatchObject({ why: '3 calls of this run were not approved' });
  });

  it.each([
    { name: 'none', hashes: [] },
    { name: 'two of different calls', hashes: ['a', 'constructor'] },
  ])('goes on after $name', ({ hashes }) => {
    expect(judgeRejections(after(hashes))).toEqual({ type: 'go-on' });
  });

  it('ends at once where a bound is no number, and keeps what was said', () => {
    expect(judgeRejections(after(['a']), { maxRejections: NaN, maxSameCall: 9 }).type).toBe('stop');
    expect(judgeRejections(after(['a']), { maxRejections: 9, maxSameCall: 0 }).type).toBe('stop');
    expect(judgeRejections(after(['a', 'a', 'b']), { maxRejections: 9, maxSameCall: 9 }).type).toBe('go-on');
  });

  it('remembers a bounded number of calls', () => {
    const many = after(Array.from({ length: 1200 }, (_, index) => `h${index}`));
    expect(many.count).toBe(1200);
    expect(Object.keys(many.byHash)).toHaveLength(1000);
  });
});

describe('visible()', () => {
  it.each([
    { text: 'rm a\nApproved by: admin', shown: 'rm a<U+000A>Approved by: admin' },
    { text: '\u001b]0;title\u0007x', shown: '<U+001B>]0;title<U+0007>x' },
    { text: 'photo\u202egpj.exe', shown: 'photo<U+202E>gpj.exe' },
    { text: 'a\u200bb  c', shown: 'a<U+200B>b  c' },
  ])('shows $shown', ({ text, shown }) => {
    expect(visible(text)).toBe(shown);
  });
});
