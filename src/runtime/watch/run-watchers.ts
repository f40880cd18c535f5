import type { RunEvent } from '../../agent/run-event.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { createFailure } from '../../errors/failure.ts';
import { ownerNamed, runOwned } from '../../model/stray-errors.ts';
import type { AgentParts } from '../agent-parts.ts';
import { addEvent, createBacklog, takeEvent } from './event-backlog.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun, Watcher } from '../run/live-run.ts';
import { withWholeText } from './so-far.ts';

/** Who watches a run: hooks, callbacks and the caller's own listener, which it gives back. None of them can touch it. */
export function watchRun(
  parts: AgentParts,
  live: LiveRun,
  onEvent?: (event: RunEvent) => void | Promise<void>,
): Watcher | undefined {
  const { hooks, name, listen } = parts;
  const { runId, watchers } = live;
  const about = { runId, agent: name };
  if (hooks.hearsEvents || hooks.has('failure') || hooks.has('recovery') || hooks.has('run-end')) {
    watchers.add({ wantsDeltas: false, hear: (event) => hearForHooks(parts, event, about) });
  }
  if (listen !== undefined) watchers.add(createListener(live, (event) => listen(event, { runId })));
  if (onEvent === undefined) return undefined;
  const own = createLateListener(live, onEvent);
  watchers.add(own);
  return own;
}

/** A listener of the caller's. What it throws is reported as a failed hook, at most once, and then it gets no more events. */
function createListener(live: LiveRun, listener: (event: RunEvent) => void | Promise<void>): Watcher {
  let isBroken = false;
  const fail = (error: unknown): void => {
    if (isBroken) return;
    isBroken = true;
    const failure = createFailure('HOOK_FAILED', {
      origin: 'hook',
      message: 'The event listener threw; it gets no more events of this run',
      causes: causesOf(error),
    });
    publish(live, { type: 'hook-failed', hook: 'onEvent', point: 'event', failure });
  };
  let hasStrayed = false;
  const owner = ownerNamed('The listener of the events', {
    strayErrors: 'report',
    report: (failure) => {
      if (hasStrayed) return;
      hasStrayed = true;
      publish(live, { type: 'hook-failed', hook: 'onEvent', point: 'event', failure });
    },
  });
  const pass = (event: RunEvent): PromiseLike<void> | undefined => {
    if (isBroken) return undefined;
    try {
      const heard: unknown = runOwned(owner, () => listener(event));
      return isPromiseLike(heard) ? heard.then(() => undefined, fail) : undefined;
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
  return { wantsDeltas: true, hear: withinOpen(pass) };
}

/** Passes events on, and lets those wait that come while the listener is at too many. */
function withinOpen(pass: (event: RunEvent) => PromiseLike<void> | undefined): (event: RunEvent) => void {
  const backlog = createBacklog();
  let open = 0;
  let isWaiting = false;
  /** Whether the listener is still at it. */
  const give = (event: RunEvent): boolean => {
    const passed = pass(event);
    if (passed === undefined) return false;
    open += 1;
    void passed.then(close);
    return true;
  };
  const close = (): void => {
    open -= 1;
    if (!isWaiting) return;
    for (let event = takeEvent(backlog); event !== undefined; event = takeEvent(backlog))
      if (give(event)) return;
    isWaiting = false;
  };
  return (event) => {
    isWaiting ||= open >= maxOpen;
    if (isWaiting) addEvent(backlog, event);
    else give(event);
  };
}

/** Events that a listener may be at. One that hangs, or takes very long, has the rest put together like a reader that does not read. */
const maxOpen = 256;

/** The same for a caller that may come late: at the end it has heard the whole answer. */
export function createLateListener(
  live: LiveRun,
  listener: (event: RunEvent) => void | Promise<void>,
): Watcher {
  const { hear, wantsDeltas } = createListener(live, listener);
  return { hear: withWholeText(hear), wantsDeltas };
}

const unheardByHooks: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>([
  'text-delta',
  'reasoning-delta',
  'tool-call-started',
  'tool-call-delta',
]);

/** Observers hear the event, and those of its point are informed of the moment. Never throws. */
function hearForHooks(
  { hooks }: AgentParts,
  event: RunEvent,
  about: { readonly runId: string; readonly agent: string },
): void {
  // Another listener wanted the pieces of text; hooks do not get each.
  if (unheardByHooks.has(event.type)) return;
  hooks.tellEvent(event, about);
  switch (event.type) {
    case 'failure':
      if (hooks.has('failure'))
        void hooks.run('failure', { ...about, turn: event.turn, failure: event.failure });
      return;
    case 'recovery':
      if (hooks.has('recovery')) void hooks.run('recovery', { ...about, turn: event.turn, recovery: event });
      return;
    case 'run-finished': {
      const { outcome } = event;
      if (hooks.has('run-end')) void hooks.run('run-end', { ...about, turn: outcome.turns, outcome });
      return hooks.endRun(about);
    }
    case 'run-suspended':
      return hooks.endRun(about);
    default:
      return;
  }
}
