import type { Json } from '../../base/json.ts';
import type { EngineSetup } from '../../runtime/record/durable.ts';
import type { NamedSignal } from '../../runtime/record/journal.ts';
import type { EffectReply, EffectRequest, FreshEntry, News } from './messages.ts';
import { createMirror, endMirror, learn, standAt } from './mirror.ts';
import { runMirror } from './mirror-verbs.ts';
import type { Mirror } from './mirror.ts';
import { performEffect } from './perform-effect.ts';

/** What a worker does for runs: their effects, each with a copy of the run at hand. */
export interface EffectHost {
  /** One activity. Rejects for no failure of an effect: Temporal gets its outcome. */
  readonly perform: (
    request: EffectRequest,
    options: { readonly signal: AbortSignal },
  ) => Promise<EffectReply>;
  /** What a workflow in the same worker reports. */
  readonly hear: (news: News) => void;
  readonly close: () => void;
}

export interface EffectHostOptions {
  readonly setup: Pick<EngineSetup, 'program' | 'effects' | 'clock'>;
  /** Where this worker alone is found. */
  readonly queue: string;
  readonly newId: () => string;
  readonly maxRuns: number;
  readonly maxValueBytes: number;
  /** How long effects may take to say what came of them once this is closed. */
  readonly closeGraceMs: number;
  /** Asks the workflow for what was too long to be sent. Nothing where it is not available now. */
  readonly recall: (request: EffectRequest) => Promise<RecalledRun | undefined>;
}

/** All that a copy of a run is made of. */
export interface RecalledRun {
  readonly input: Json;
  readonly entries: readonly FreshEntry[];
  readonly signals: readonly NamedSignal[];
}

/** How long the copy of a run may take to come to where the run stands. Its program waits for nothing but answers that are there. */
const maxFollowMs = 30_000;

/** A worker without any run. */
export function createEffectHost(options: EffectHostOptions): EffectHost {
  const mirrors = new Map<string, Mirror>();
  let endGrace = (): void => undefined;
  const whenClosed = new Promise<undefined>((resolve) => {
    endGrace = () => resolve(undefined);
  });
  const held: Held = { options, mirrors, isClosed: false, whenClosed };
  return {
    perform: (request, { signal }) => perform(held, request, signal),
    hear: (news) => hear(mirrors, news),
    close: () => {
      if (held.isClosed) return;
      held.isClosed = true;
      options.setup.clock.after(options.closeGraceMs, endGrace);
      for (const mirror of mirrors.values()) endMirror(mirror);
      mirrors.clear();
    },
  };
}

interface Held {
  readonly options: EffectHostOptions;
  /** By run, the least recently used first. */
  readonly mirrors: Map<string, Mirror>;
  isClosed: boolean;
  /** Who has not said what came of it by then is not waited for. */
  readonly whenClosed: Promise<undefined>;
}

async function perform(held: Held, given: EffectRequest, signal: AbortSignal): Promise<EffectReply> {
  const { options, mirrors } = held;
  const request = given.isRecalled === true ? await wholeOf(held, given) : given;
  if (held.isClosed) return { type: 'let-go' };
  if (request === undefined) return { type: 'need-state' };
  const { runId, position, effect, input } = request;
  const mirror = mirrorFor(held, request);
  if (mirror === undefined) return { type: 'need-state' };
  mirror.known.set(position, { type: 'call', position, effect, input });
  if (!learn(mirror, request)) {
    mirrors.delete(runId);
    endMirror(mirror);
    return { type: 'need-state' };
  }
  mirror.pending.clear();
  for (const each of request.pending) mirror.pending.set(each.id, each);
  const asked = await standAt(mirror, position, maxFollowMs);
  if (held.isClosed) return { type: 'let-go' };
  if (asked !== undefined) return { type: 'changed', asked };
  const end = await Promise.race([performEffect(mirror, request, { ...options, signal }), held.whenClosed]);
  // It was stopped by us and by nothing else: the next process that resumes it finds out what became of it.
  if (end === undefined || (held.isClosed && end.type === 'failed')) return { type: 'let-go' };
  const token = options.newId();
  mirror.given.set(token, { position, end });
  return { type: 'outcome', end, token, queue: options.queue };
}

/** The request as it would be if nothing were too long to be sent. */
async function wholeOf({ options }: Held, request: EffectRequest): Promise<EffectRequest | undefined> {
  const run = await options.recall(request);
  if (run === undefined) return undefined;
  const { input, entries, signals } = run;
  return { ...request, base: 0, fresh: entries, begin: { input }, pending: signals };
}

/** The copy that there is; a new one only where the workflow has sent all that it takes. */
function mirrorFor({ options, mirrors }: Held, request: EffectRequest): Mirror | undefined {
  const { runId, generation, begin, fresh } = request;
  const present = mirrors.get(runId);
  mirrors.delete(runId);
  if (present !== undefined && present.generation === generation && canFollow(present)) {
    mirrors.set(runId, present);
    return present;
  }
  if (present !== undefined) endMirror(present);
  if (begin === undefined) return undefined;
  const { program, clock } = options.setup;
  const made = createMirror({ runId, generation, clock, entries: fresh });
  // The workflow is here now: so it is at this call, once all before it is gone through.
  const { position, effect, input } = request;
  made.known.set(position, { type: 'call', position, effect, input });
  runMirror(made, program, begin.input);
  mirrors.set(runId, made);
  for (const [oldest, mirror] of mirrors) {
    if (mirrors.size <= options.maxRuns) break;
    if (mirror.controllers.size > 0 || mirror === made) continue;
    mirrors.delete(oldest);
    endMirror(mirror);
  }
  return made;
}

/** One whose program has left is of no use, and one with other code says so every time. */
function canFollow({ isOver, changed }: Mirror): boolean {
  return !isOver && changed === undefined;
}

function hear(mirrors: Map<string, Mirror>, news: News): void {
  const mirror = mirrors.get(news.runId);
  if (mirror === undefined || mirror.generation !== news.generation) return;
  switch (news.type) {
    case 'signalled':
      mirror.pending.set(news.signal.id, news.signal);
      return;
    case 'cancelled':
      for (const controller of mirror.controllers) controller.abort();
      return;
    case 'stands':
      learn(mirror, news);
      return;
    default:
      if (learn(mirror, news)) void leave(mirror);
      else endMirror(mirror);
      mirrors.delete(news.runId);
  }
}

/** What was learnt last takes the program a few turns to go through. */
async function leave(mirror: Mirror): Promise<void> {
  await standAt(mirror, Number.POSITIVE_INFINITY, maxLeaveMs);
  endMirror(mirror);
}

const maxLeaveMs = 1000;
