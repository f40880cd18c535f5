import type { Evidence } from './evidence.ts';
import type { StatedDelay } from './stated-delay.ts';
import { verdictOf } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** What a stated wait, or its absence, says about a verdict: a wait alone is a rate, and so is a quota that is back at once. */
export function weighDelay(given: Verdict, evidence: Evidence, delay: StatedDelay): Verdict {
  const verdict = withRefill(withWait(given, delay), evidence, delay);
  if (verdict.code !== 'RATE_LIMITED' || delay.type === 'stated' || !isDaily(evidence.text)) return verdict;
  return verdictOf(
    { code: 'QUOTA_EXCEEDED' },
    verdict.by,
    `${verdict.because}; it is a daily allowance and no wait is stated`,
  );
}

/** A wait without any other reason means that requests are held back. */
function withWait(verdict: Verdict, delay: StatedDelay): Verdict {
  if (delay.type !== 'stated' || !isVague(verdict)) return verdict;
  return verdictOf({ code: 'RATE_LIMITED' }, verdict.by, `a wait is stated in ${delay.from}, and no reason`);
}

/** A quota that by its own words is back within a minute, and says nothing of money or of longer periods, is a rate. */
function withRefill(verdict: Verdict, { text }: Evidence, delay: StatedDelay): Verdict {
  const { code, by, because } = verdict;
  if (code !== 'QUOTA_EXCEEDED' || by !== 'wording' || delay.type !== 'stated' || delay.delayMs > 60_000)
    return verdict;
  return lasting.test(text) || !/^(?:its words|the field)/.test(delay.from)
    ? verdict
    : verdictOf({ code: 'RATE_LIMITED' }, by, `${because}; it is back within a minute`);
}

const lasting =
  /current quota|bill|credit|balance|\bplans?\b|subscri|pa(?:y|id)|\bday|daily|hour|week|month|spend|budget|free|余额|额度|套餐/;

function isVague({ code, by, because }: Verdict): boolean {
  return (
    code === 'UNKNOWN' || (code === 'INVALID_REQUEST' && by === 'status' && because === 'the status is 400')
  );
}

function isDaily(text: string): boolean {
  return daily.test(text) && !perMinute.test(text);
}

const daily =
  /per[ -]?day\b|\bdaily (?:\w+ )?(?:limit|quota|allowance|cap|request|token)|(?:\b|_)[rt]pd(?:\b|_)/;
const perMinute = /per[ -]?min/;
