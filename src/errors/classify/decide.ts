import { signOfErrno } from './errno-signs.ts';
import { coarseSignOfId, isUmbrella, signOfId } from './error-ids.ts';
import type { Evidence } from './evidence.ts';
import { codedName, signOfName } from './name-signs.ts';
import { tokenWords } from './normalise.ts';
import type { IndexedRule } from './wording/rule-index.ts';
import type { StatedDelay } from './stated-delay.ts';
import { signOfStatus } from './status-signs.ts';
import { verdictOf } from './verdict.ts';
import type { Verdict } from './verdict.ts';
import { weighDelay } from './weigh-delay.ts';
import { wordingFor } from './wording/wording.ts';

/**
 * Decides what happened. The order is: what is specific before what is general, structure before words among equals.
 *
 * 1. what leaves no doubt: an abort, a proxy's refusal, headers, timers, a page; 2. sentences known to beat a coarser code;
 * 3. the provider's own code; 4. an errno; 5. other sentences, advice last; 6. the status; 7. a coarse code; 8. the name of
 * a class; 9. single words. Nothing left: `UNKNOWN`.
 */
export function decide(evidence: Evidence, delay: StatedDelay): Verdict {
  return weighDelay(withProgress(firstVerdict(evidence), evidence), evidence, delay);
}

/** A connection that broke after a good status had come broke in the middle of an answer. */
function withProgress(verdict: Verdict, { status }: Evidence): Verdict {
  if (verdict.code !== 'NETWORK_ERROR' || status === undefined || status < 200 || status >= 300)
    return verdict;
  return { ...verdict, code: 'STREAM_INTERRUPTED', because: `${verdict.because}, after status ${status}` };
}

function firstVerdict(evidence: Evidence): Verdict {
  const wording = wordingFor(evidence, evidence.text);
  const named = wordingFor(evidence, evidence.idWords);
  const core = withoutAdvice(evidence.text);
  const coded = byId(evidence);
  const errno = byErrno(evidence);
  const fromStatus = byStatus(evidence);
  const coarse = byCoarseId(evidence);
  const said = (rules: readonly IndexedRule[], text = core): Verdict | undefined =>
    withStructure(byWording(rules, wording.candidates, text), coded ?? fromStatus);
  const spelt = (rules: readonly IndexedRule[]): Verdict | undefined =>
    byWording(rules, named.candidates, evidence.idWords);
  const hasAdvice = core !== evidence.text && !clearStatuses.has(evidence.status ?? 0);
  return (
    cancellation(evidence) ??
    proxyRefusal(evidence, fromStatus) ??
    planWindow(evidence) ??
    timer(errno) ??
    neverFits(evidence) ??
    cutAnswer(evidence) ??
    wrongDocument(evidence) ??
    unlessBilled(said(wording.overriding), coded) ??
    coded ??
    errno ??
    spelt(named.overriding) ??
    said(wording.plain) ??
    spelt(named.plain) ??
    // Where only the advice tells what happened: 'Please pass a valid API key.'
    (hasAdvice
      ? (said(wording.overriding, evidence.text) ?? said(wording.plain, evidence.text))
      : undefined) ??
    // A name of several words says more than a 5xx: '503 MODEL_AT_CAPACITY'.
    (failedStatus(evidence) ? byTokens(evidence, ['overriding']) : undefined) ??
    refusalInside(evidence, coarse) ??
    fromStatus ??
    coarse ??
    byName(evidence) ??
    byLooseStatus(evidence) ??
    said(wording.faint, evidence.text) ??
    spelt(named.faint) ??
    emptyAnswer(evidence) ??
    byTokens(evidence, ['overriding', 'plain', 'faint']) ??
    verdictOf({ code: 'UNKNOWN' }, 'wording', 'nothing in it is known')
  );
}

/** Statuses that say more than advice does: '401: the endpoint may be temporarily unavailable'. */
const clearStatuses: ReadonlySet<number> = new Set([401, 402, 413]);

/** Gateways explain an empty account by their load, and a parser only that it met an error; the code inside is the truer word. */
function unlessBilled(verdict: Verdict | undefined, coded: Verdict | undefined): Verdict | undefined {
  if (verdict?.code === 'OVERLOADED' && coded?.code === 'QUOTA_EXCEEDED') return coded;
  return verdict?.code === 'INVALID_RESPONSE' && coded?.by === 'code' ? coded : verdict;
}

/** A gateway's own 5xx says less than the error inside, which says that the request was refused. */
function refusalInside(evidence: Evidence, coarse: Verdict | undefined): Verdict | undefined {
  return failedStatus(evidence) && coarse !== undefined && refusals.has(coarse.code) ? coarse : undefined;
}

function failedStatus({ status }: Evidence): boolean {
  return status !== undefined && status >= 500 && status !== 501;
}

const refusals: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'MODEL_NOT_FOUND', 'PERMISSION_DENIED']);

/** Whoever aborts gets what they asked for, whatever had come by then. */
function cancellation({ names, thrownName }: Evidence): Verdict | undefined {
  if (thrownName !== 'aborterror' && thrownName !== 'apiuseraborterror') return undefined;
  if (names.includes('timeouterror')) return undefined; // A timer aborts too.
  return verdictOf({ code: 'CANCELLED' }, 'type', "the error's class says that the caller aborted");
}

/** The proxy wants credentials of its own: nothing reached the provider, and its key is not the matter. */
function proxyRefusal({ status }: Evidence, fromStatus: Verdict | undefined): Verdict | undefined {
  return status === 407 ? fromStatus : undefined;
}

/** A client's own timer has a code of its own; `terminated` beside it only says what it did. */
function timer(errno: Verdict | undefined): Verdict | undefined {
  return errno?.code === 'TIMEOUT' ? errno : undefined;
}

/** A subscription's window is used up: Anthropic and Codex say so in headers of their own, whatever the body says. */
function planWindow({ headers }: Evidence): Verdict | undefined {
  const name = Object.keys(headers).find((header) => {
    const value = headers[header] ?? '';
    if (unifiedStatus.test(header)) return value === 'rejected';
    return header.startsWith('x-codex-') && header.endsWith('-used-percent') && Number(value) >= 100;
  });
  if (name === undefined) return undefined;
  return verdictOf({ code: 'QUOTA_EXCEEDED' }, 'code', `the header ${name} says ${headers[name]}`);
}

// `overage` is the wallet beside the plan: accounts without one always read 'rejected' there.
const unifiedStatus = /^anthropic-ratelimit-unified-(?!overage-)(?:[\da-z_]+-)?status$/;

const limitAndRequested = /limit:? ([\d,]{1,12})(?: \/ \w+)?\b[^{}]{0,60}?requested:? ~?([\d,]{1,12})\b/;

const rateWindow = /per[ -](?:min|minute|hour|day)|\b[tr]p[md]\b|rate.?limit|request too large/;

/** One request above a whole rate window: the stated wait can never help. */
function neverFits({ text }: Evidence): Verdict | undefined {
  if (!rateWindow.test(text)) return undefined;
  const match = limitAndRequested.exec(text);
  if (match === null) return undefined;
  const [limit, requested] = [toNumber(match[1]), toNumber(match[2])];
  if (!(requested > limit) || limit === 0) return undefined;
  return verdictOf(
    { code: 'REQUEST_TOO_LARGE' },
    'wording',
    `one request of ${requested} is above the whole limit of ${limit}`,
  );
}

function toNumber(digits: string | undefined): number {
  return Number((digits ?? '').replaceAll(',', ''));
}

const advice =
  /,? (?:which )?(?:may|might|could) (?:indicate|be|mean|have)\b[^.!?|]{0,300}|(?:^|[.!?;|·] )(?:please (?!retry|try|wait|slow)|visit |see |for more|to learn|learn more|contact |if you|you can |you may |need more|upgrade |consider |read more|refer to|go to|check |try (?!again))[^.!?|]{0,300}(?:[.!?](?= |$)|(?=\|)|$)/g;

/** What happened, without what the provider advises: 'please add a payment method' does not make a rate limit a bill. */
function withoutAdvice(text: string): string {
  return /[.!?;|·] /.test(text) ? text.replaceAll(advice, '. ').trim() : text;
}

/** Node's own words for an answer that stopped half way. */
function cutAnswer({ errnos, text }: Evidence): Verdict | undefined {
  if (!errnos.includes('ECONNRESET') || !/(?:^|\| )(?:error: )?aborted\b/.test(text)) return undefined;
  return verdictOf(
    { code: 'STREAM_INTERRUPTED' },
    'errno',
    'the connection was reset while the answer was read',
  );
}

/** A page with a good status is somebody else's: a login, a portal, a wrong base URL. Its words mean nothing to us. */
function wrongDocument({ isPage, status }: Evidence): Verdict | undefined {
  if (!isPage || status === undefined) return undefined;
  // Firewalls answer 405 with a page of their own; an API would say it in its own format.
  if (status === 405)
    return verdictOf({ code: 'PERMISSION_DENIED' }, 'type', 'a web page came with status 405');
  return status < 400
    ? verdictOf({ code: 'INVALID_RESPONSE' }, 'type', `a web page came with status ${status}`)
    : undefined;
}

function byWording(rules: readonly IndexedRule[], candidates: Uint8Array, text: string): Verdict | undefined {
  for (const { rule, id } of rules) {
    if (candidates[id] === 0 || !rule.pattern.test(text)) continue;
    // The rule's own sentence is quoted, not the text: words in lower case could hide a key from the redactor.
    return verdictOf(rule, 'wording', `it reads like "${rule.example}"`);
  }
  return undefined;
}

/** Where the provider's own code or the status says the same as its words, the structure gets the credit. */
function withStructure(verdict: Verdict | undefined, structural: Verdict | undefined): Verdict | undefined {
  if (verdict === undefined || structural?.code !== verdict.code) return verdict;
  return verdictOf(verdict, structural.by, `${structural.because}, and ${verdict.because}`);
}

function byId({ ids, names, provider }: Evidence): Verdict | undefined {
  const [umbrellas, others] = [ids.filter(isUmbrella), ids.filter((id) => !isUmbrella(id))];
  for (const id of [...others, ...umbrellas]) {
    const found = signOfId(id, provider);
    if (found !== undefined) return verdictOf(found, 'code', `the error code is "${id}"`);
  }
  for (const name of names) {
    const found = codedName(name);
    if (found !== undefined) return verdictOf(found, 'code', `the exception is "${name}"`);
  }
  return undefined;
}

function byErrno({ errnos, status }: Evidence): Verdict | undefined {
  if (status !== undefined && status >= 400) return undefined;
  for (const errno of errnos) {
    const found = signOfErrno(errno);
    if (found !== undefined) return verdictOf(found, 'errno', `the system's error code is ${errno}`);
  }
  return undefined;
}

function byStatus({ status }: Pick<Evidence, 'status'>): Verdict | undefined {
  if (status === undefined) return undefined;
  const found = signOfStatus(status);
  return found === undefined ? undefined : verdictOf(found, 'status', `the status is ${status}`);
}

const looseStatus =
  /(?:error|fail|status|http|code|returned|responded|received|got)[^\d|]{0,20}\b([45]\d\d)\b(?![.,]?\d| ?(?:ms|s|tokens?|%|[km]i?b|seconds?)\b)/;

/** A number in a sentence that can only be a status: 'Repeated 529 errors' where nothing else says what happened. */
function byLooseStatus({ text }: Evidence): Verdict | undefined {
  const status = looseStatus.exec(text)?.[1];
  return status === undefined ? undefined : byStatus({ status: Number(status) });
}

/** Last, the words inside names that no table knows or that were cut: `java.net.SocketTimeoutExce`. */
function byTokens(
  evidence: Evidence,
  kinds: readonly ('overriding' | 'plain' | 'faint')[],
): Verdict | undefined {
  const text = `${evidence.nameWords} | ${tokenWords(evidence.messages)}`;
  const wording = wordingFor(evidence, text);
  return kinds
    .map((kind) => byWording(wording[kind], wording.candidates, text))
    .find((verdict) => verdict !== undefined);
}

function byCoarseId({ ids, names }: Evidence): Verdict | undefined {
  for (const id of [...ids, ...names.filter((name) => name.endsWith('exception'))]) {
    const found = coarseSignOfId(id);
    if (found !== undefined) return verdictOf(found, 'code', `the error code is "${id}"`);
  }
  return undefined;
}

/** A good status and still a failure: whatever came cannot have been an answer. */
function emptyAnswer({ status }: Evidence): Verdict | undefined {
  if (status === undefined || status < 200 || status >= 400) return undefined;
  return verdictOf(
    { code: 'INVALID_RESPONSE' },
    'status',
    `the status is ${status}, and nothing in the answer says what failed`,
  );
}

function byName({ names }: Evidence): Verdict | undefined {
  for (const name of names) {
    const found = signOfName(name);
    if (found !== undefined) return verdictOf(found, 'type', `the error's class is ${name}`);
  }
  return undefined;
}
