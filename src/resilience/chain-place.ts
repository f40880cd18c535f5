import { defined } from '../base/defined.ts';
import type { Asked } from './call-failures.ts';
import type { FallBack } from './decide.ts';
import type { FailureCounts } from './failure-kind.ts';

/** Where a call is in its chain of targets. JSON; fields that are absent are so in what older versions recorded. */
export interface ChainPlace {
  /** The index of the target that is asked. */
  readonly target: number;
  /** Attempts at this target. */
  readonly tries: number;
  /** How often which failure came, at this target. */
  readonly kinds: FailureCounts;
  /** Targets to ask again where no other is left. At most one for each target. */
  readonly returns?: readonly Return[];
  /** The last target that was reached, where an earlier one is asked again. */
  readonly reached?: number;
}

/** A target that was left before its attempts were used up. */
interface Return extends Pick<ChainPlace, 'target' | 'tries' | 'kinds'> {
  /** On the watch of the call: it is not asked again before. */
  readonly untilMs: number;
  /** It may be asked before; `untilMs` only says in which order. */
  readonly isAskable?: true;
}

/** What of the chain is left. */
export interface ChainRest {
  /** Another model can be asked, or asked again. */
  readonly hasNextModel: boolean;
  /** The same model can be asked with another key. */
  readonly hasNextKey?: true;
  /** No model is left that was not asked yet, but one can be asked again. */
  readonly isLastResort?: true;
  /** This target was left before, and no other was left. */
  readonly isReturn?: true;
}

/** What of the chain is left after this target. */
export function restOf(place: ChainPlace, targets: readonly Asked[]): ChainRest {
  const hasFresh = nextModel(place, targets) !== undefined;
  const hasReturns = (place.returns ?? none).length > 0;
  const isReturn = place.reached !== undefined;
  return {
    hasNextModel: hasFresh || hasReturns,
    ...(hasNextKey(place, targets) && { hasNextKey: true }),
    ...(!hasFresh && hasReturns && { isLastResort: true }),
    ...(isReturn && { isReturn }),
  };
}

interface Leaving {
  readonly elapsedMs: number;
  readonly decision: FallBack;
}

/** The place after a target was left: the next key, the next model, or whoever may be asked again first. Nothing where nobody is left. */
export function leaveTarget(
  place: ChainPlace,
  { elapsedMs, decision }: Leaving,
  targets: readonly Asked[],
): { readonly place: ChainPlace; readonly delayMs: number } | undefined {
  const { target, tries, kinds, returns = none } = place;
  const { to, returnAfterMs, isAskable } = decision;
  const left: readonly Return[] =
    returnAfterMs === undefined
      ? returns
      : [...returns, { target, tries, kinds, untilMs: elapsedMs + returnAfterMs, ...defined({ isAskable }) }];
  const isToKey = to === 'next-key' && hasNextKey(place, targets);
  const fresh = isToKey ? target + 1 : nextModel(place, targets);
  if (fresh !== undefined) {
    return { place: { target: fresh, tries: 0, kinds: {}, ...listed(left) }, delayMs: 0 };
  }
  const [first] = left.toSorted((one, other) => one.untilMs - other.untilMs);
  if (first === undefined) return undefined;
  const again = { target: first.target, tries: first.tries, kinds: first.kinds, reached: reachedOf(place) };
  return {
    place: { ...again, ...listed(left.filter((one) => one !== first)) },
    delayMs: first.isAskable === true ? 0 : Math.max(0, first.untilMs - elapsedMs),
  };
}

/** The place to lay the next one over: what that does not have must not be left from this one. */
export function withoutReturns<Place extends ChainPlace>({
  returns: _returns,
  reached: _reached,
  ...place
}: Place): Omit<Place, 'returns' | 'reached'> {
  return place;
}

const none: readonly Return[] = [];

function listed(returns: readonly Return[]): Pick<ChainPlace, 'returns'> {
  return returns.length === 0 ? {} : { returns };
}

function reachedOf({ target, reached = target }: ChainPlace): number {
  return Math.max(target, reached);
}

/** The first target of another model that was not reached yet. */
function nextModel(place: ChainPlace, targets: readonly Asked[]): number | undefined {
  const reached = reachedOf(place);
  const index = targets.findIndex(({ isNextKey }, at) => at > reached && isNextKey !== true);
  return index === -1 ? undefined : index;
}

function hasNextKey(place: ChainPlace, targets: readonly Asked[]): boolean {
  return place.target === reachedOf(place) && targets[place.target + 1]?.isNextKey === true;
}
