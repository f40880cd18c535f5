import { effectsOfRun } from '../../agent/run-effects.ts';
import { isReadTool } from '../../agent/tools/read-tools.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import { selectHistory } from '../../context/select-history.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { configError } from '../../errors/config-error.ts';
import { answeredNote, unansweredNote } from '../../model/compaction-notes.ts';
import { countEffects, effectsIn, withoutOldest, writeEffects } from '../../model/effects.ts';
import type { Effect, IsRead } from '../../model/effects.ts';
import { textOf } from '../../model/message.ts';
import type { Message } from '../../model/message.ts';
import type { Store } from '../../model/store/store.ts';
import type { AgentParts } from '../agent-parts.ts';
import { callEmbedding } from '../model-call/call-embedding.ts';
import type { DriveInput, SessionPart } from '../drive.ts';
import type { HeldRuns } from './held-runs.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';

type Start = Extract<DriveInput, { type: 'start' }>;

/** A session is read from its end, so far back. The model is informed that older parts are not listed. */
const maxSessionMessages = 5000;

interface Starting {
  readonly start: Start;
  readonly sessionId: string;
  readonly signal: AbortSignal | undefined;
}

/** Puts what was said in the session before what is asked now: as much of it as the agent's rules choose. */
export async function startInSession(held: HeldRuns, live: LiveRun, starting: Starting): Promise<Start> {
  const { start, sessionId } = starting;
  live.sessionId = sessionId;
  const store = held.keeper?.store;
  if (store === undefined)
    throw configError(
      '"sessionId" needs an agent with a store: createAgent({ store: sqlite("runs.db"), … })',
    );
  const known = await chooseHistory(held, live, { ...starting, store });
  const messages = [...known, ...start.messages];
  const effects = countEffects(effectsIn(messages, isReadIn(held.parts)));
  const session: SessionPart = { id: sessionId, known: known.length, asked: start.messages };
  return { ...start, messages, session: effects === 0 ? session : { ...session, effects } };
}

async function chooseHistory(
  { parts }: HeldRuns,
  live: LiveRun,
  { start, sessionId, store, signal = never }: Starting & { readonly store: Store },
): Promise<readonly Message[]> {
  const { rules, embeddings, vectors } = parts.history;
  const { clock, gates, random } = parts;
  try {
    const messages = await store.sessions.messages(sessionId, { last: maxSessionMessages });
    const { meter } = (live.parts ?? parts).context;
    await meter?.measure(live, messages, { signal });
    const selected = await selectHistory({
      messages,
      estimate: meter?.tokensOf,
      query: start.messages.map(contentOf).join('\n'),
      rules,
      vectors,
      signal,
      isRead: isReadIn(parts),
      isCut: messages.length >= maxSessionMessages,
      embed:
        embeddings === undefined
          ? undefined
          : (texts, options) => callEmbedding(embeddings, texts, { clock, gates, random, ...options }),
    });
    if (selected.strategy !== 'all' || selected.degraded.length > 0) {
      const { strategy, exchanges, degraded } = selected;
      publish(live, { type: 'history-selected', sessionId, strategy, ...exchanges, degraded });
    }
    return selected.messages;
  } catch (error) {
    // A cancel request is known to the run already: it begins, and ends at once.
    if (signal.aborted) return [];
    const failure = classifyFailure(error, 'storage');
    if (store.durability === 'required') throw error;
    live.unsaved = failure;
    publish(live, { type: 'storage-failed', failure });
    return [];
  }
}

const never = new AbortController().signal;

/** What this run adds to its session, once. A run without an answer adds a note of what it did, where it did something. */
export async function addToSession(
  { keeper, parts }: HeldRuns,
  live: LiveRun,
  outcome: Exclude<RunOutcome, { type: 'suspended' }>,
): Promise<void> {
  const { session, runId } = live;
  if (session === undefined || keeper === undefined) return;
  const isRead = isReadIn(parts);
  const effects = withoutOldest(effectsOfRun(parts, outcome.messages), session.effects ?? 0);
  const isAnswered = outcome.type === 'completed';
  if (!isAnswered && effects.length === 0) return;
  const messages = isAnswered
    ? ownMessages(session, outcome, { effects, isRead, isConducted: parts.conductor !== undefined })
    : unanswered(session, outcome, writeEffects(effects));
  // A run that is resumed may be answered later, and adds its answer then.
  const key = isAnswered ? runId : `${runId} without an answer, ${countEffects(effects)} effects`;
  try {
    await keeper.store.sessions.append(session.id, messages, key);
  } catch (error) {
    // The answer stands, and the run's own record holds what was said; that its session lacks it must be known.
    live.unsaved = classifyFailure(error, 'storage');
    publish(live, { type: 'storage-failed', failure: live.unsaved });
  }
}

interface Did {
  /** What this run did. */
  readonly effects: readonly Effect[];
  readonly isRead: IsRead;
  readonly isConducted: boolean;
}

/**
 * What was asked and all that followed; after a compaction only what was asked, what was done and the answer. So of a flow, a hand-off
 * and a plan, whose records say nothing to a model.
 */
function ownMessages(
  { known, asked }: SessionPart,
  { messages, text }: Extract<RunOutcome, { type: 'completed' }>,
  { effects, isRead, isConducted }: Did,
): readonly Message[] {
  const first = asked[0];
  const own = messages.slice(known);
  const isWhole = !isConducted && first !== undefined && own[0] !== undefined && isSame(own[0], first);
  // A compaction lists what it dropped where the first of it stood, which may be before the question.
  const hasEffects = countEffects(effectsIn(own, isRead)) === countEffects(effects);
  if (isWhole && hasEffects) return own;
  const list = writeEffects(effects);
  const done: readonly Message[] = list === '' ? [] : [{ role: 'user', content: answeredNote(list) }];
  return [...asked, ...done, { role: 'assistant', content: text }];
}

function unanswered(
  { asked }: SessionPart,
  outcome: Exclude<RunOutcome, { type: 'suspended' | 'completed' }>,
  list: string,
): readonly Message[] {
  const code = outcome.type === 'cancelled' ? undefined : outcome.failure?.code;
  const end = code === undefined ? outcome.type : `${outcome.type}: ${code}`;
  const note = unansweredNote({ asked: asked.map(contentOf).join('\n'), end }, list);
  return [{ role: 'user', content: note }];
}

function isReadIn({ config }: AgentParts): IsRead {
  return (name) => isReadTool({ config }, name);
}

function isSame(left: Message, right: Message): boolean {
  return canonicalJson(left as unknown as Json) === canonicalJson(right as unknown as Json); // Messages are JSON.
}

function contentOf({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}
