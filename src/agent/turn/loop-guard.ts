/**
 * Distinguishes a model that goes in circles from one that works. Pure; the guard is JSON and bounded, whatever is put in.
 *
 * A call is known by its tool and its hash, its outcome by the hash of its result. What is counted:
 * - repeat: the same call with the same outcome. The count begins again when the call gives another result, and when there
 *   was progress since, in a turn without this call. So other calls of the same turn do not hide a repeat, and running the
 *   tests again after every edit is none.
 * - ping-pong: two to four calls, not all the same, that go round with the same outcomes. A lap counts as one.
 * - no progress: one tool, whatever the arguments, with the same fruitless outcome, twice as often as a repeat. Fruitless is an
 *   error or a result that says "nothing" (`looksEmpty`). Fifty files written with 'ok' are work: hashes cannot tell
 *   them from fifty vain searches, so a fruitful result never counts here. What slips through meets the run's limits.
 *
 * Progress is a fruitful outcome that is not in the window. Calls that may be repeated as often as one likes are not looked at.
 *
 * What is said: nudge, withdraw, stop, each once, and never two steps in one turn: the model must have had the chance to
 * heed the last word. Between the steps the verdict is `fine`: there is nothing new to do. Once withdrawn, a tool that is
 * called again and fails continues the count, whatever it answers now. Progress without a loop in the same turn forgives.
 */
import { createHash } from 'node:crypto';
import { boundText } from '../../base/text.ts';
import { describeLoop } from './loop-words.ts';

/** What is remembered of the calls that were settled. JSON, bounded. */
export interface LoopGuard {
  /** Turns with calls so far. */
  readonly turn: number;
  /** The last turn that brought something new; 0 for none. */
  readonly progressTurn: number;
  /** The last calls, the oldest first. */
  readonly calls: readonly SeenCall[];
  /** For periods of 2, 3 and 4 calls: how many calls in a row were the same as the one a period before. */
  readonly matches: readonly number[];
  /** The loop that something was said about, until there is progress. */
  readonly loop: StandingLoop | null;
}

/** One settled call, with how often it had come by then. */
export interface SeenCall {
  readonly name: string;
  readonly key: string;
  readonly result: string;
  readonly turn: number;
  readonly repeats: number;
  /** How often in a row the tool gave this fruitless result. */
  readonly vain: number;
  /** How many repeats the tool allows; 0 where it says nothing. */
  readonly allowed: number;
}

export interface StandingLoop {
  readonly step: 1 | 2 | 3;
  readonly pattern: LoopPattern;
  readonly tools: readonly string[];
  /** Measured against the rules, the tool's own allowance taken off. */
  readonly weight: number;
  readonly count: number;
}

/** A guard that has seen nothing. */
export const emptyLoopGuard: LoopGuard = {
  turn: 0,
  progressTurn: 0,
  calls: [],
  matches: [0, 0, 0],
  loop: null,
};

/** A call that has ended, as the guard sees it. */
export interface SettledCall {
  readonly name: string;
  /** Of tool and canonical arguments; where they cannot be read, their text as it stands. */
  readonly hash: string;
  readonly resultHash: string;
  /** What the tool says about being repeated. */
  readonly repeats?: number | 'any' | undefined;
  readonly isError: boolean;
  /** The result says that there is nothing: see `looksEmpty`. */
  readonly isEmpty?: boolean;
}

export type LoopPattern = 'repeat' | 'ping-pong' | 'no-progress';

/** What is wrong: which tools, how often, in a sentence. */
export interface LoopFinding {
  readonly pattern: LoopPattern;
  readonly tools: readonly string[];
  readonly count: number;
  readonly reason: string;
}

/** What to do about the calls of a turn. */
export type LoopVerdict =
  | { readonly type: 'fine' }
  | ({ readonly type: 'nudge' } & LoopFinding)
  | ({ readonly type: 'withdraw' } & LoopFinding)
  | ({ readonly type: 'stop' } & LoopFinding);

/** From how many identical calls on each step is taken. */
export interface LoopRules {
  readonly nudgeAt: number;
  readonly withdrawAt: number;
  readonly stopAt: number;
}

/** An endless loop of one call ends with the seventh. */
export const defaultLoopRules: LoopRules = { nudgeAt: 3, withdrawAt: 5, stopAt: 7 };

const maxCalls = 24;
const maxKeyCharacters = 64;
const periods = [2, 3, 4] as const;
/** Other arguments are another try: it takes twice as many before they are held against the model. */
const vainPerRepeat = 2;

/** Takes note of the calls of one turn, in order, and says what is to be done about them. */
export function observeCalls(
  guard: LoopGuard,
  calls: readonly SettledCall[],
  rules: LoopRules,
): { readonly guard: LoopGuard; readonly verdict: LoopVerdict } {
  const watch: Watch = { guard, turn: guard.turn + 1, calls: guard.calls, matches: guard.matches.slice() };
  let worst: Suspicion | undefined;
  let isProgress = false;
  for (const call of calls) {
    if (call.repeats === 'any') continue;
    isProgress = note(watch, call) || isProgress;
    for (const suspicion of suspicionsOf(watch, rules)) {
      if (worst === undefined || isWorse(suspicion, worst)) worst = suspicion;
    }
  }
  const { verdict, loop } = judge(guard, worst, isProgress);
  const { turn } = watch;
  return {
    guard: {
      turn,
      progressTurn: isProgress ? turn : guard.progressTurn,
      calls: watch.calls.length > maxCalls ? watch.calls.slice(-maxCalls) : watch.calls,
      matches: watch.matches,
      loop,
    },
    verdict,
  };
}

/** One turn being looked at. The calls are replaced, the matches are written to. */
interface Watch {
  readonly guard: LoopGuard;
  readonly turn: number;
  calls: readonly SeenCall[];
  readonly matches: number[];
}

/** Writes the call down. True for progress: something fruitful that was not there before. */
function note(watch: Watch, call: SettledCall): boolean {
  const { guard, turn, calls, matches } = watch;
  const name = boundText(call.name, maxKeyCharacters);
  const key = bounded(call.hash);
  const result = bounded(call.resultHash);
  const isFruitless = call.isError || call.isEmpty === true;
  const goesOn = (seen: SeenCall | undefined): seen is SeenCall =>
    seen?.result === result && (seen.turn === turn || guard.progressTurn <= seen.turn);
  let before: SeenCall | undefined;
  let isNew = true;
  // Of the same call the latest counts. By hand, for this goes through the whole window at every call of a run.
  for (let place = calls.length - 1; place >= 0; place -= 1) {
    const seen = calls[place];
    if (seen === undefined || seen.key !== key || seen.name !== name) continue;
    before ??= seen;
    if (seen.result === result) isNew = false;
  }
  const ofTool = isFruitless ? calls.findLast((seen) => seen.name === name) : undefined;
  for (let place = 0; place < periods.length; place += 1) {
    const earlier = calls[calls.length - (periods[place] ?? 0)];
    const isMatch = earlier?.result === result && earlier.key === key && earlier.name === name;
    matches[place] = isMatch ? (matches[place] ?? 0) + 1 : 0;
  }
  const latest: SeenCall = {
    name,
    key,
    result,
    turn,
    repeats: goesOn(before) ? before.repeats + 1 : 1,
    vain: isFruitless ? 1 + (goesOn(ofTool) ? ofTool.vain : 0) : 0,
    allowed: call.repeats === undefined || call.repeats === 'any' ? 0 : Math.max(1, call.repeats),
  };
  // One copy of the right length, where a push would make a longer one first.
  watch.calls = (calls.length < maxCalls * 2 ? calls : calls.slice(maxCalls)).concat(latest);
  return isNew && !isFruitless;
}

/** Arguments as text and hashes of others may be of any length, and the guard may not grow. */
function bounded(text: string): string {
  return text.length <= maxKeyCharacters ? text : createHash('sha256').update(text).digest('hex');
}

/** Something that may be a loop; `step` is how far the rules go for it, 0 for not yet. */
interface Suspicion extends Omit<StandingLoop, 'step'> {
  readonly step: 0 | StandingLoop['step'];
}

const noSuspicions: readonly Suspicion[] = [];

/** What the call that was noted last is part of. */
function suspicionsOf(watch: Watch, rules: LoopRules): readonly Suspicion[] {
  const { calls, matches, guard } = watch;
  const last = calls.at(-1);
  // Most calls are new ones: nothing is a loop that came once.
  if (
    last === undefined ||
    (guard.loop === null && last.repeats < 2 && last.vain < 2 && matches.every((count) => count < 2))
  )
    return noSuspicions;
  const found: Suspicion[] = [];
  const suspect = (suspicion: Omit<Suspicion, 'step'>) =>
    found.push({ ...suspicion, step: stepOf(suspicion.weight, rules) });
  const one = (pattern: LoopPattern, count: number, perRepeat: number) =>
    suspect({ pattern, tools: [last.name], count, weight: (count - allowance([last], rules)) / perRepeat });
  one('repeat', last.repeats, 1);
  one('no-progress', last.vain, vainPerRepeat);
  for (const [place, period] of periods.entries()) {
    const matched = matches[place] ?? 0;
    const lap = matched < period ? [] : calls.slice(-period);
    if (lap.every(({ name, key }) => name === last.name && key === last.key)) continue;
    const count = Math.floor(matched / period) + 1;
    const tools = [...new Set(lap.map(({ name }) => name))];
    suspect({ pattern: 'ping-pong', tools, count, weight: count - allowance(lap, rules) });
  }
  const { loop } = guard;
  // An answer that only says "withdrawn" is another result, but no way out of the loop.
  if (loop?.step === 2 && last.vain > 0 && loop.tools.includes(last.name)) {
    const again = calls.filter(({ turn, name }) => turn === watch.turn && name === last.name).length;
    suspect({ ...loop, count: loop.count + again, weight: loop.weight + again });
  }
  return found;
}

/** A tool that allows `n` repeats is first spoken about at the next one: all steps move along by so many. */
function allowance(calls: readonly SeenCall[], { nudgeAt }: LoopRules): number {
  const allowed = Math.max(...calls.map((call) => call.allowed));
  return allowed === 0 ? 0 : allowed + 1 - nudgeAt;
}

function stepOf(weight: number, { nudgeAt, withdrawAt, stopAt }: LoopRules): Suspicion['step'] {
  if (weight >= stopAt) return 3;
  if (weight >= withdrawAt) return 2;
  return weight >= nudgeAt ? 1 : 0;
}

/** At the same step the pattern that says more: both sides of a ping-pong repeat themselves, too. */
function isWorse(one: Suspicion, other: Suspicion): boolean {
  if (one.step !== other.step) return one.step > other.step;
  if (one.pattern !== other.pattern) return one.pattern === 'ping-pong';
  return one.weight > other.weight;
}

const verdictTypes = { 1: 'nudge', 2: 'withdraw', 3: 'stop' } as const;

function judge(
  { loop: standing }: LoopGuard,
  worst: Suspicion | undefined,
  isProgress: boolean,
): { readonly verdict: LoopVerdict; readonly loop: StandingLoop | null } {
  const fine: LoopVerdict = { type: 'fine' };
  if (worst === undefined || worst.step === 0) return { verdict: fine, loop: isProgress ? null : standing };
  const said = standing?.step ?? 0;
  const step = nextStep(said, worst.step);
  const loop: StandingLoop = { ...worst, step };
  if (step === said && step !== 3) return { verdict: fine, loop };
  const { pattern, tools, count } = worst;
  const isWithdrawn = said >= 2 && tools.some((tool) => standing?.tools.includes(tool) === true);
  const reason = describeLoop({ pattern, tools, count, isWithdrawn });
  return { verdict: { type: verdictTypes[step], pattern, tools, count, reason }, loop };
}

/** Never two steps at once, never back. */
function nextStep(said: Suspicion['step'], wanted: StandingLoop['step']): StandingLoop['step'] {
  if (said === 0) return 1;
  if (said >= wanted) return said;
  return said === 1 ? 2 : 3;
}
