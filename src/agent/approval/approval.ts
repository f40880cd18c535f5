import type { Json } from '../../base/json.ts';
import { toPlainJson } from '../../base/plain-json.ts';
import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import { clean } from '../../errors/failure.ts';
import { isAboutOther, readFields } from './person-answer.ts';
import type { PersonRequest } from '../run-outcome.ts';

// A gate opens only by a yes that is plainly one, in time, and to this very call. Whatever else comes is a no.

/** What a person's answer means. */
export type Verdict =
  | { readonly verdict: 'yes'; readonly reason: string }
  | {
      readonly verdict: 'no';
      readonly kind: NoKind;
      readonly reason: string;
      /** The person's own words. */
      readonly comment?: string;
    };

/** Why it is a no: a person said so, no person is there, it cannot be understood, it came too late, it is about another call. */
export type NoKind = 'said-no' | 'absent' | 'unreadable' | 'expired' | 'other-call';

type ApprovalRequest = Extract<PersonRequest, { readonly type: 'approval' }>;

/**
 * Reads an answer on record: what is handed in passes `checkAnswer` first, which is stricter. A yes is `true`, one of four words, `{ approved: true }`, `{ approve: true }`, or such a word under
 * `decision`, `verdict` or `type`. Where an answer says several things, all of them must be a yes. `{ type: 'absent' }` is for a
 * program that answers where no person can be asked. Never throws.
 *
 * @example readAnswer({ approved: false, reason: 'too much' }); // { verdict: 'no', kind: 'said-no', … }
 */
export function readAnswer(answer: unknown): Verdict {
  if (typeof answer !== 'object') return verdictOf([answer], undefined);
  const fields = readFields(answer, [...flagFields, ...wordFields, 'reason']);
  if (fields === undefined) return unreadable;
  const flags = flagFields.filter((name) => fields.has(name)).map((name) => flagOf(fields.get(name)));
  // `{ ...request, approved: true }` still says what it was an answer to.
  const words = wordFields
    .filter((name) => fields.has(name) && !(name === 'type' && fields.get(name) === 'approval'))
    .map((name) => wordOf(fields.get(name)));
  return verdictOf([...flags, ...words], readComment(fields.get('reason')));
}

/** What an approval is held against besides its request. */
export interface ApprovalFacts {
  /** When the answer came, in milliseconds since 1970. */
  readonly atMs: number;
  /** What would run. */
  readonly call: { readonly name: string; readonly input: Json; readonly hash: string };
}

/** Decides about a call by the answer to its request. What was asked about must be what would run. */
export function judgeApproval(
  request: ApprovalRequest,
  answer: unknown,
  { atMs, call }: ApprovalFacts,
): Verdict {
  // Written so that a time that is no number is too late.
  if (!(atMs <= request.expiresAt)) {
    return no('expired', 'no answer came in time');
  }
  const verdict = readAnswer(answer);
  if (verdict.verdict === 'no') return verdict;
  const { name: tool, input, hash } = call;
  return isAboutOther(request, answer) || isAboutOther(request, { tool, input, hash })
    ? no('other-call', 'the answer names a call other than the one in question')
    : verdict;
}

/** What a person found out about a call that may have happened. */
export type Verification =
  | { readonly type: 'happened'; readonly result?: Json }
  | { readonly type: 'did-not-happen' }
  | { readonly type: 'unknown' };

/**
 * Reads what a person says about a call that is in doubt: `{ happened: true, result }`, `{ happened: false }`,
 * `'happened'`, `'did-not-happen'`, or such a word under `type`. A mere `true` or `yes` is unknown, for it may as well mean
 * that the call should be made. Never throws.
 */
export function readVerification(answer: unknown): Verification {
  if (typeof answer === 'string') return plain(wordMeans(answer));
  const fields = readFields(answer, ['happened', 'type', 'result']);
  if (fields === undefined) return unknown;
  const said = [
    ...(fields.has('happened') ? [flagMeans(fields.get('happened'))] : []),
    // `{ ...request, happened: true }` still says what it was an answer to.
    ...(fields.has('type') && fields.get('type') !== 'in-doubt' ? [wordMeans(fields.get('type'))] : []),
  ];
  const [first] = said;
  if (first === undefined || said.some((meaning) => meaning !== first)) return unknown;
  if (first !== 'happened' || !fields.has('result')) return plain(first);
  return { type: 'happened', result: toPlainJson(fields.get('result'), resultBounds) };
}

/** The same, bound to the request: an answer about another call leaves this one unknown. */
export function judgeVerification(
  request: Extract<PersonRequest, { readonly type: 'in-doubt' }>,
  answer: unknown,
): Verification {
  return isAboutOther(request, answer) ? unknown : readVerification(answer);
}

/** What the model reads about a call that was not approved. */
export function rejectionText(tool: string, { kind, comment }: Extract<Verdict, { verdict: 'no' }>): string {
  const name = JSON.stringify(printable(tool));
  const words = comment === undefined ? '' : ` Their words: ${JSON.stringify(comment)}.`;
  return `${noTexts[kind](name)}${words} It was not run. ${whatNow}`;
}

/** How many times in a run, and for the same call, a person may say no before the run ends. */
export interface RejectionLimits {
  readonly maxRejections: number;
  readonly maxSameCall: number;
}

export const defaultRejectionLimits: RejectionLimits = { maxRejections: 3, maxSameCall: 2 };

/** The rejections of a run so far. JSON. */
export interface Rejections {
  readonly count: number;
  /** By the hash of tool and arguments. */
  readonly byHash: Readonly<Record<string, number>>;
  /** How many of them because no person was available; absent where it was never so, as in journals of old. */
  readonly absent?: number;
}

export const noRejections: Rejections = { count: 0, byHash: {} };

/** Adds a rejection of the call with this hash. */
export function countRejection(
  { count, byHash, absent = 0 }: Rejections,
  { hash, kind }: { readonly hash: string; readonly kind: NoKind },
): Rejections {
  const before = Object.hasOwn(byHash, hash) ? (byHash[hash] ?? 0) : 0;
  const isFull = before === 0 && Object.keys(byHash).length >= maxHashes;
  const counted = { count: count + 1, byHash: isFull ? byHash : { ...byHash, [hash]: before + 1 } };
  const nowAbsent = kind === 'absent' ? absent + 1 : absent;
  return nowAbsent === 0 ? counted : { ...counted, absent: nowAbsent };
}

/** Whether the run continues after its rejections so far, or ends as `stopped: rejected`. It never opens the gate. */
export function judgeRejections(
  rejections: Rejections,
  { maxRejections, maxSameCall }: RejectionLimits = defaultRejectionLimits,
): { readonly type: 'go-on' } | { readonly type: 'stop'; readonly reason: 'rejected'; readonly why: string } {
  const { count, byHash } = rejections;
  // Written so that a bound that is no number ends it.
  if (count > 0 && !(count < maxRejections)) {
    return { type: 'stop', reason: 'rejected', why: whyStopped(rejections, { count }) };
  }
  const most = Object.values(byHash).reduce((one, other) => Math.max(one, other), 0);
  if (most > 0 && !(most < maxSameCall)) {
    return { type: 'stop', reason: 'rejected', why: whyStopped(rejections, { most }) };
  }
  return { type: 'go-on' };
}

type Reached = { readonly count: number } | { readonly most: number };

function whyStopped({ count, absent = 0 }: Rejections, reached: Reached): string {
  if (absent === 0) {
    return 'most' in reached
      ? `a person said no ${reached.most} times to the same call`
      : `a person said no ${count} times in this run`;
  }
  const isAlways = absent === count;
  if ('most' in reached) {
    return isAlways
      ? `no person was available to approve a call that was made ${reached.most} times`
      : `a call that was made ${reached.most} times was not approved`;
  }
  return isAlways
    ? `no person was available to approve ${count} calls of this run`
    : `${count} calls of this run were not approved`;
}

const maxHashes = 1000;
const maxCommentLength = 500;

const flagFields = ['approved', 'approve'] as const;
const wordFields = ['decision', 'verdict', 'type'] as const;

const yesWords: ReadonlySet<string> = new Set(['approve', 'approved', 'allow', 'yes']);
/** They only decide how the no is explained. */
const noWords: ReadonlySet<string> = new Set([
  'no',
  'deny',
  'denied',
  'reject',
  'rejected',
  'decline',
  'declined',
  'disapprove',
  'disapproved',
  'disallow',
  'refuse',
  'refused',
]);

type Said = 'yes' | 'no' | 'absent' | 'unreadable';

function verdictOf(parts: readonly unknown[], comment: string | undefined): Verdict {
  const said = parts.map(saidBy);
  if (said.includes('no')) {
    const answer = no(
      'said-no',
      comment === undefined ? 'a person denied it' : `a person denied it: ${comment}`,
    );
    return comment === undefined ? answer : { ...answer, comment };
  }
  if (said.includes('absent')) return no('absent', 'no person was available to approve it');
  if (said.length === 0 || said.includes('unreadable')) return unreadable;
  return {
    verdict: 'yes',
    reason: comment === undefined ? 'a person approved it' : `a person approved it: ${comment}`,
  };
}

function saidBy(part: unknown): Said {
  if (typeof part === 'boolean') return part ? 'yes' : 'no';
  if (typeof part !== 'string') return 'unreadable';
  const word = part.length > maxCommentLength ? '' : part.trim().toLowerCase();
  if (yesWords.has(word)) return 'yes';
  if (word === 'absent') return 'absent';
  return noWords.has(word) ? 'no' : 'unreadable';
}

/** `{ approved: 'true' }` is what a form sends whose box is not ticked. */
function flagOf(value: unknown): unknown {
  return typeof value === 'boolean' ? value : undefined;
}

function wordOf(value: unknown): unknown {
  return typeof value === 'string' ? value : undefined;
}

function readComment(reason: unknown): string | undefined {
  if (typeof reason !== 'string' || reason.trim() === '') return undefined;
  return printable(clean(reason, maxCommentLength));
}

function no(kind: NoKind, reason: string): Extract<Verdict, { verdict: 'no' }> {
  return { verdict: 'no', kind, reason };
}

const unreadable = no('unreadable', 'the answer could not be understood');

const noTexts: Readonly<Record<NoKind, (name: string) => string>> = {
  'said-no': (name) => `A person said no to this call of ${name}.`,
  absent: (name) =>
    `This call of ${name} needs the approval of a person, and none is available in this run: it is denied.`,
  unreadable: (name) =>
    `A person was asked about this call of ${name}, and the answer was not a clear approval: it is denied.`,
  expired: (name) =>
    `A person was asked about this call of ${name}, and no answer came in time: it is denied.`,
  'other-call': (name) =>
    `A person was asked about this call of ${name}, and answered about another one: it is denied.`,
};

const whatNow =
  'Do not call it again with these arguments, and do not try to get around it in another way. Go on without it, or say what cannot be done.';

const unknown: Verification = { type: 'unknown' };

const resultBounds = {
  maxDepth: 64,
  maxMembers: 10_000,
  boundText: (text: string) => boundText(text, 100_000),
} as const;

function plain(type: Verification['type']): Verification {
  return { type };
}

const happenedWords: ReadonlySet<string> = new Set(['happened', 'it-happened']);
const notHappenedWords: ReadonlySet<string> = new Set([
  'did-not-happen',
  'didnt-happen',
  'not-happened',
  'it-did-not-happen',
]);

function wordMeans(value: unknown): Verification['type'] {
  if (typeof value !== 'string' || value.length > 100) return 'unknown';
  const word = value
    .trim()
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[\s_]+/g, '-');
  if (happenedWords.has(word)) return 'happened';
  return notHappenedWords.has(word) ? 'did-not-happen' : 'unknown';
}

function flagMeans(value: unknown): Verification['type'] {
  if (typeof value !== 'boolean') return 'unknown';
  return value ? 'happened' : 'did-not-happen';
}
