import type { RunOutcome } from '../agent/run-outcome.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { Json } from '../base/json.ts';
import { selectHistory } from '../context/select-history.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { configError } from '../errors/config-error.ts';
import { textOf } from '../model/message.ts';
import type { Message } from '../model/message.ts';
import type { Store } from '../model/store.ts';
import { callEmbedding } from './call-embedding.ts';
import type { DriveInput, SessionPart } from './drive.ts';
import type { HeldRuns } from './held-runs.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';

type Start = Extract<DriveInput, { type: 'start' }>;

/** A session is looked at from its end, so far back: what is older is no longer shown to anybody. */
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
  const session: SessionPart = { id: sessionId, known: known.length, asked: start.messages };
  return { ...start, messages: [...known, ...start.messages], session };
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
    const selected = await selectHistory({
      messages,
      query: start.messages.map(contentOf).join('\n'),
      rules,
      vectors,
      signal,
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
    // A wish to stop is known to the run already: it begins, and ends at once.
    if (signal.aborted) return [];
    const failure = classifyFailure(error, 'storage');
    if (store.durability === 'required') throw error;
    live.unsaved = failure;
    publish(live, { type: 'storage-failed', failure });
    return [];
  }
}

const never = new AbortController().signal;

/** What this run has added to its session, once. */
export async function addToSession(
  { keeper }: HeldRuns,
  live: LiveRun,
  outcome: Extract<RunOutcome, { type: 'completed' }>,
): Promise<void> {
  const { session, runId } = live;
  if (session === undefined || keeper === undefined) return;
  try {
    await keeper.store.sessions.append(session.id, ownMessages(session, outcome), runId);
  } catch (error) {
    // The answer stands, and the run's own record holds what was said; that its session lacks it must be known.
    live.unsaved = classifyFailure(error, 'storage');
    publish(live, { type: 'storage-failed', failure: live.unsaved });
  }
}

/** What was asked and all that followed; after a compaction only what was asked and the answer. */
function ownMessages(
  { known, asked }: SessionPart,
  { messages, text }: Extract<RunOutcome, { type: 'completed' }>,
): readonly Message[] {
  const first = asked[0];
  const own = messages.slice(known);
  if (first !== undefined && own[0] !== undefined && isSame(own[0], first)) return own;
  return [...asked, { role: 'assistant', content: text }];
}

function isSame(left: Message, right: Message): boolean {
  return canonicalJson(left as unknown as Json) === canonicalJson(right as unknown as Json); // Messages are JSON.
}

function contentOf({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}
