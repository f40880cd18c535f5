import type { FailureCode } from '../../errors/codes.ts';
import type { AskedWait } from '../../resilience/asked-wait.ts';
import type { CallProgress } from '../../resilience/call-progress.ts';
import type { RunConfig } from '../config.ts';
import type { Resting, RunState } from '../state.ts';

const untilMended = Number.MAX_SAFE_INTEGER;

/** What no time fixes: to ask again, turn after turn, would only be refused again. */
const needsMending: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'QUOTA_EXCEEDED',
  'AUTHENTICATION_ERROR',
  'PERMISSION_DENIED',
  'MODEL_NOT_FOUND',
  'PROVIDER_NOT_CONFIGURED',
  'PROVIDER_NOT_SUPPORTED',
]);

/** What a call found out about the models of the chain, for the calls after it. */
export function noteResting(
  state: RunState,
  { waits, failures, elapsedMs }: CallProgress,
): readonly Resting[] {
  if (waits.length === 0 && failures.length === 0) return state.resting;
  // Who has slept enough may have been asked again, and have asked for more.
  const asleep = state.resting.filter(({ untilMs }) => untilMs > state.wallMs);
  const found = new Map(asleep.map((rest) => [rest.target, rest]));
  for (const { target, untilMs, failure } of waits) {
    if (untilMs > elapsedMs && !found.has(target))
      // Whole milliseconds, as `resumeAt` has them: sums of measured times are off by a hair.
      found.set(target, { target, untilMs: Math.floor(state.wallMs + untilMs - elapsedMs), failure });
  }
  for (const { target, failure } of failures) {
    if (needsMending.has(failure.code)) found.set(target, { target, untilMs: untilMended, failure });
  }
  return [...found.values()].filter(({ untilMs }) => untilMs > state.wallMs);
}

/**
 * A person says that the run may continue, so what needed fixing is tried again; what was asked for still holds, as long as the
 * chain is the same.
 */
export function afterMending({ resting, config }: RunState, models: RunConfig['models']): readonly Resting[] {
  const isSame =
    models.length === config.models.length &&
    models.every(({ name, quotaKey }, index) => {
      const before = config.models[index];
      return before?.name === name && before.quotaKey === quotaKey;
    });
  return isSame ? resting.filter(({ untilMs }) => untilMs !== untilMended) : [];
}

/** With whom a call begins: the one that was chosen, the first who may be asked, or the first of all where none may be asked. */
export function beginWith({ resting, wallMs, config }: RunState, selected = 0): Beginning | undefined {
  const asleep = resting.filter(({ untilMs }) => untilMs > wallMs);
  if (asleep.length === 0)
    return selected === 0 ? undefined : { ...chosen(config, selected, asleep), waits: [] };
  const waits = asleep.map(({ target, untilMs, failure }): AskedWait => ({
    target,
    untilMs: untilMs - wallMs,
    failure,
  }));
  if (selected > 0 && !asleep.some(({ target }) => target === selected))
    return { ...chosen(config, selected, asleep), waits };
  const first = config.models.findIndex((_, index) => !asleep.some(({ target }) => target === index));
  return { target: Math.max(0, first), waits };
}

type Beginning = Pick<CallProgress, 'target' | 'waits' | 'returns'>;

/** The models before the chosen one are asked where none after it is left. */
function chosen(
  { models }: RunConfig,
  selected: number,
  asleep: readonly Resting[],
): Pick<CallProgress, 'target' | 'returns'> {
  const returns = models.slice(0, selected).flatMap(({ isNextKey }, target) => {
    const isOut = isNextKey === true || asleep.some((each) => each.target === target);
    return isOut ? [] : [{ target, tries: 0, kinds: {}, untilMs: target, isAskable: true as const }];
  });
  return returns.length === 0 ? { target: selected } : { target: selected, returns };
}
