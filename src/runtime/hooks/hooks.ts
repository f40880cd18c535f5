import { aroundOf } from '../../model/around-tool.ts';
import type { AroundTool } from '../../model/around-tool.ts';
import { unreachable } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { lazy } from '../../base/lazy.ts';
import type { Failure } from '../../errors/failure.ts';
import { readAnswer } from '../../agent/hooks/hook-answer.ts';
import { hookFailed, hookTerminated } from '../../agent/hooks/hook-failure.ts';
import type { HookFault, HookPlace } from '../../agent/hooks/hook-failure.ts';
import { hookPoints } from '../../agent/hooks/hook-rules.ts';
import type {
  EventSource,
  Hook,
  HookContext,
  HookPoint,
  HookVerdict,
  Moments,
  ObserverHook,
  SkipPoint,
  StandIns,
} from '../../agent/hooks/hook.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { StrayErrors } from '../../model/stray-errors.ts';
import { callHook } from './hook-call.ts';
import type { HookCallEnd } from './hook-call.ts';
import { createHookNotes, leftBehindHook, ownerOfHook, unheard } from './hook-notes.ts';
import type { FailedHook, HookNotes } from './hook-notes.ts';
import { createObservers } from '../watch/observers.ts';
import type { Observers } from '../watch/observers.ts';

/** Runs the hooks of one agent, for all of its runs. */
export interface HookRunner {
  /** Whether anybody is there, so that a run without hooks pays nothing. */
  readonly has: (point: HookPoint) => boolean;
  /** Whether `tellEvent` has anybody to tell. */
  readonly hearsEvents: boolean;
  /** What observers of ours put around the code of a tool; most agents have none. */
  readonly aroundTool: AroundTool | undefined;
  /**
   * Asks the transformers and then the guardrails of a point, each kind in the order of the list, and informs the observers what
   * came of it without waiting for them. Never rejects.
   */
  readonly run: <Point extends HookPoint>(
    point: Point,
    moment: Moments[Point],
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<HookVerdict<Point>>;
  /** Informs every observer with `onEvent`, without waiting. Never throws. */
  readonly tellEvent: (event: RunEvent, about: EventSource) => void;
  /** A run has ended: observers that hang are reported and left behind. */
  readonly endRun: (about: EventSource) => void;
  /** Dropped for observers, because too much was waiting for them already. */
  readonly dropped: () => number;
  /** Gives slow observers a last chance. */
  readonly drain: (options: {
    readonly maxMs: number;
    readonly signal?: AbortSignal | undefined;
  }) => Promise<void>;
}

/** What the runner needs. */
export interface HookRunnerOptions {
  readonly clock: Clock;
  /**
   * Learns of an observer's failure, at most twenty times per hook and run. Must not throw; it may pass the event on, for what
   * observers make of that is not reported again.
   */
  readonly onFailed?: ((failed: FailedHook) => void) | undefined;
  /** What is done about errors that a hook leaves to the process. */
  readonly strayErrors?: StrayErrors | undefined;
}

/** How long a hook may take over one answer unless it says otherwise. */
const defaultHookTimeoutMs = 5000;

/** Sorts the hooks once, so that a point costs what is at it. The hooks have been through `checkHooks`. */
export function createHookRunner(hooks: readonly Hook[], options: HookRunnerOptions): HookRunner {
  const { clock, onFailed, strayErrors = 'report' } = options;
  const listeners = hooks.filter(isListener);
  // Most agents have none, and some are made again for every request.
  const held = lazy(() => ({
    clock,
    strayErrors,
    points: new Map(hookPoints.map((point) => [point, hooksAt(hooks, point)] as const)),
    notes: createHookNotes(onFailed),
    observers: createObservers({ clock, defaultTimeoutMs: defaultHookTimeoutMs }),
  }));
  return {
    has: (point) => hooks.length > 0 && (held().points.get(point)?.count ?? 0) > 0,
    hearsEvents: listeners.length > 0,
    aroundTool: aroundOf(listeners),
    run: (point, moment, { signal } = {}) => run(held(), { point, moment, signal }),
    tellEvent: (event, about) => {
      for (const hook of listeners) tellEvent(held(), hook, { event, about });
    },
    endRun: (about) => {
      const { observers, notes } = held();
      observers.endRun((hook, point) => notes.add({ ...about, ...leftBehindHook(hook, point) }));
    },
    dropped: () => held().observers.dropped(),
    drain: (given) => held().observers.drain(given),
  };
}

interface Held {
  readonly clock: Clock;
  readonly strayErrors: StrayErrors;
  readonly points: ReadonlyMap<HookPoint, HooksAtPoint>;
  readonly observers: Observers;
  readonly notes: HookNotes;
}

interface HooksAtPoint {
  /** Transformers first, for guardrails must see what will really be done. */
  readonly asked: readonly Hook[];
  readonly told: readonly ObserverHook[];
  readonly count: number;
}

type ListeningHook = ObserverHook & Required<Pick<ObserverHook, 'onEvent'>>;

function isListener(hook: Hook): hook is ListeningHook {
  return hook.kind === 'observer' && hook.onEvent !== undefined;
}

function hooksAt(hooks: readonly Hook[], point: HookPoint): HooksAtPoint {
  const present = hooks.filter((hook) => handlerOf(hook, point) !== undefined);
  const transformers = present.filter(({ kind }) => kind === 'transformer');
  const guardrails = present.filter(({ kind }) => kind === 'guardrail');
  const told = present.filter((hook) => hook.kind === 'observer');
  return { asked: [...transformers, ...guardrails], told, count: present.length };
}

/** Which points a kind may have is the business of the types and of `checkHooks`; here only what is there counts. */
function handlerOf(hook: Hook, point: HookPoint): AnyHandler | undefined {
  return (hook.on as Partial<Record<HookPoint, AnyHandler>>)[point];
}

type AnyHandler = (moment: Moments[HookPoint], context: HookContext) => unknown;

interface Asked<Point extends HookPoint> {
  readonly point: Point;
  readonly moment: Moments[Point];
  readonly signal: AbortSignal | undefined;
}

async function run<Point extends HookPoint>(held: Held, asked: Asked<Point>): Promise<HookVerdict<Point>> {
  const at = held.points.get(asked.point);
  const progress: Progress<Point> = { moment: asked.moment, modifiedBy: [], standIn: undefined };
  const verdict = (await askAll(held, at?.asked ?? [], { asked, progress })) ?? verdictOf(progress);
  for (const hook of at?.told ?? []) tellMoment(held, hook, { point: asked.point, moment: progress.moment });
  return verdict;
}

/** What the hooks so far have come to. */
interface Progress<Point extends HookPoint> {
  moment: Moments[Point];
  readonly modifiedBy: string[];
  standIn: { readonly hook: string; readonly standIn: StandIns[SkipPoint] } | undefined;
}

interface Step<Point extends HookPoint> {
  readonly asked: Asked<Point>;
  readonly progress: Progress<Point>;
}

/** Asks one after the other until one ends it; nothing where none did. */
async function askAll<Point extends HookPoint>(
  held: Held,
  hooks: readonly Hook[],
  step: Step<Point>,
): Promise<HookVerdict<Point> | undefined> {
  for (const hook of hooks) {
    // The replacement of the step is not transformed further, but a guardrail may still say no to the step.
    if (step.progress.standIn !== undefined && hook.kind === 'transformer') continue;
    if (step.asked.signal?.aborted) return { type: 'aborted' };
    const end = call(held, hook, step);
    const ended = end instanceof Promise ? await end : end;
    const verdict = take(hook, step, ended);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function call<Point extends HookPoint>(
  held: Held,
  hook: Hook,
  { asked, progress }: Step<Point>,
): HookCallEnd | Promise<HookCallEnd> {
  const { clock } = held;
  const handle = handlerOf(hook, asked.point);
  const timeoutMs = hook.timeoutMs ?? defaultHookTimeoutMs;
  return callHook((context) => handle?.(progress.moment, context), {
    clock,
    timeoutMs,
    signal: asked.signal,
    owner: ownerOfHook(held, hook, { point: asked.point, about: asked.moment }),
  });
}

function take<Point extends HookPoint>(
  hook: Hook,
  { asked, progress }: Step<Point>,
  end: HookCallEnd,
): HookVerdict<Point> | undefined {
  if (end.type === 'aborted') return end;
  const place: HookPlace = { hook: hook.name, kind: hook.kind, point: asked.point };
  if (end.type !== 'answered') return brokenVerdict(place, faultOf(hook, end));
  const answer = readAnswer(end.answer, { kind: hook.kind, point: asked.point, moment: progress.moment });
  switch (answer.type) {
    case 'continue':
      return undefined;
    case 'modify':
      progress.moment = answer.moment;
      progress.modifiedBy.push(hook.name);
      return undefined;
    case 'skip':
      progress.standIn = { hook: hook.name, standIn: answer.standIn };
      return undefined;
    case 'halt':
      return { type: 'halt', hook: hook.name, failure: hookTerminated(place, answer.reason) };
    case 'nonsense':
      return brokenVerdict(place, answer);
    default:
      return unreachable(answer);
  }
}

/** A transformer that fails ends its step; a guardrail that fails means no. */
function brokenVerdict(
  place: HookPlace,
  fault: HookFault,
): { readonly type: 'failed' | 'halt'; readonly hook: string; readonly failure: Failure } {
  const type = place.kind === 'guardrail' ? 'halt' : 'failed';
  return { type, hook: place.hook, failure: hookFailed(place, fault) };
}

function faultOf(hook: Hook, end: Extract<HookCallEnd, { type: 'threw' | 'timed-out' }>): HookFault {
  if (end.type === 'threw') return end;
  return { type: 'timed-out', timeoutMs: hook.timeoutMs ?? defaultHookTimeoutMs };
}

function verdictOf<Point extends HookPoint>({
  moment,
  modifiedBy,
  standIn,
}: Progress<Point>): HookVerdict<Point> {
  if (standIn === undefined) return { type: 'continue', moment, modifiedBy };
  // Only at the points that can be skipped does an answer become a stand-in, which the compiler cannot follow.
  return { type: 'skip', ...standIn } as unknown as HookVerdict<Point>;
}

function tellMoment(
  held: Held,
  hook: ObserverHook,
  { point, moment }: { readonly point: HookPoint; readonly moment: Moments[HookPoint] },
): void {
  const handle = handlerOf(hook, point);
  held.observers.tell(hook, {
    handle: (context) => handle?.(moment, context),
    point,
    owner: ownerOfHook(held, hook, { point, about: moment }),
    onEnd: (end) => {
      const fault = faultOfObserver(hook, point, end);
      if (fault !== undefined)
        held.notes.note({ hook: hook.name, kind: 'observer', point }, { about: moment, fault });
    },
  });
}

/** What was delivered and how it ended, for an observer that cannot decide anything. */
function faultOfObserver(hook: ObserverHook, point: HookPoint, end: HookCallEnd): HookFault | undefined {
  if (end.type === 'aborted') return undefined;
  if (end.type !== 'answered') return faultOf(hook, end);
  // The moment is only looked at where something is changed, which an observer may not.
  const answer = readAnswer(end.answer, { kind: 'observer', point, moment: undefined as never });
  return answer.type === 'nonsense' ? answer : undefined;
}

function tellEvent(
  held: Held,
  hook: ListeningHook,
  { event, about }: { readonly event: RunEvent; readonly about: EventSource },
): void {
  held.observers.tell(hook, {
    point: 'event',
    handle: () => hook.onEvent(event, about),
    owner: event.type === 'hook-failed' ? unheard : ownerOfHook(held, hook, { point: 'event', about }),
    onEnd: (end) => {
      // A failure to receive failures is not reported, or it would never end.
      if (end.type === 'answered' || end.type === 'aborted' || event.type === 'hook-failed') return;
      held.notes.note(
        { hook: hook.name, kind: 'observer', point: 'event' },
        { about, fault: faultOf(hook, end) },
      );
    },
  });
}
