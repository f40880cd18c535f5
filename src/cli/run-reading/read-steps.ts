import type { RunEvent } from '../../agent/run-event.ts';
import { provenanceText, readProvenance } from '../../agent/approval/provenance.ts';
import { defined } from '../../base/defined.ts';
import { clean } from '../../errors/failure.ts';
import type { StoredEvent } from '../../model/store/store.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import type { ReplayStep } from '../../runtime/transfer/replay-run.ts';
import { configIn } from '../../runtime/transfer/replay-parts.ts';
import { at } from '../../runtime/record/run-blobs.ts';
import type { RunConfig } from '../../agent/config.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { addCall, addToolEnd, changeTexts } from './read-calls.ts';
import { addItem, joinLatest } from './reader.ts';
import type { Reader } from './reader.ts';
import type { ItemOf } from './run-reading.ts';
import { latest } from './run-reading.ts';

/** Notes what one event of the record was, and what the machine emitted because of it. */
export function addStep(reader: Reader, step: ReplayStep, event: StoredEvent): void {
  reader.seq = event.seq;
  reader.atMs = reader.timeOf(event);
  reader.turn = Math.max(step.turn, step.events.reduce(latestTurn, 0));
  reader.sentences.push({
    seq: event.seq,
    atMs: reader.atMs,
    type: event.type,
    text: clean(step.text, maxSentence),
  });
  addRecorded(reader, step, event);
  for (const emitted of step.events) addEmitted(reader, emitted, event);
}

const maxSentence = 500;

/** A last turn without tools has a number that the run does not count. */
function latestTurn(turn: number, event: RunEvent): number {
  return event.type === 'turn-started' ? turn : Math.max(turn, 'turn' in event ? event.turn : 0);
}

function addRecorded(reader: Reader, step: ReplayStep, { type, body }: StoredEvent): void {
  switch (type) {
    case 'began':
      return addBeginning(reader, step, body);
    case 'call':
      return addCall(reader, step, body as unknown as Extract<JournalEntry, { type: 'call' }>); // It was just replayed.
    case 'sleep':
      return addSleep(reader, step, body as unknown as Extract<JournalEntry, { type: 'sleep' }>); // As above.
    case 'wait':
      return noteConfig(reader, at(body, ['signalled', 'payload', 'config']));
    case 'suspended':
      return joinLatest(reader, 'suspended');
    default:
      return addWord(reader, step, { type, body });
  }
}

function addBeginning(reader: Reader, { generation }: ReplayStep, body: Json): void {
  const how = at(body, ['input', 'type']);
  const input = at(body, ['input']);
  noteConfig(reader, input === undefined ? undefined : configIn(input as Json)); // The body is JSON.
  const nodes = at(body, ['facts', 'nodes']);
  const isPlan = reader.isConducted && at(body, ['facts', 'shape']) === undefined;
  if (isRecord(nodes)) reader.nodeNames = isPlan ? [] : Object.keys(nodes);
  // A new journal of the same run is a matter of storage.
  if (how === 'carry-on') return;
  addItem(reader, { type: 'began', how: how === 'resume' ? 'resume' : 'start', generation });
}

function noteConfig(reader: Reader, config: unknown): void {
  const models = at(config, ['models']);
  if (!Array.isArray(models)) return;
  reader.isConducted = at(config, ['isConducted']) === true;
  reader.models = (models as RunConfig['models']).map(({ provider, name }) => `${provider}:${name}`); // Written by the machine.
}

function addSleep(
  reader: Reader,
  { generation }: ReplayStep,
  { position, delayMs, dueAtMs, isOver }: Extract<JournalEntry, { type: 'sleep' }>,
): void {
  const key = `${generation}:${position}`;
  const begun = reader.sleeps.get(key);
  const before = begun === undefined ? undefined : reader.items[begun];
  if (!isOver && before === undefined) {
    reader.sleeps.set(key, reader.items.length);
    const decision = latest(reader.items, 'decision');
    const { failure, reason = '' } = decision ?? {};
    const { provider, context, retryAfterMs } = failure ?? {};
    const who =
      provider?.provider ?? (typeof context?.['tool'] === 'string' ? context['tool'] : 'the other side');
    const askedBy = retryAfterMs === undefined ? 'rerail' : who;
    const seqs = decision?.seqs ?? [];
    addItem(reader, { type: 'wait', delayMs, dueAtMs, askedBy, why: reason }, seqs);
    return;
  }
  if (isOver && begun !== undefined && before?.type === 'wait') {
    const over: ItemOf<'wait'> = {
      ...before,
      // By the run's own watch: its beginning may have been written down a little later.
      tookMs: Math.max(0, reader.atMs - (dueAtMs - delayMs)),
      seqs: [...before.seqs, reader.seq],
    };
    reader.items[begun] = over;
  }
}

/** What is in the record besides the journal. */
function addWord(
  reader: Reader,
  { text }: ReplayStep,
  { type, body }: Pick<StoredEvent, 'type' | 'body'>,
): void {
  const say = (path: string): string => {
    const value = at(body, [path]);
    return typeof value === 'string' ? clean(value, maxSentence) : 'unknown';
  };
  const count = (path: string): number => Number(at(body, [path]) ?? 0);
  switch (type) {
    case 'cancelled':
      return addItem(reader, { type, reason: say('reason') });
    case 'ended': {
      const failure = at(body, ['failure']) as ItemOf<'ended'>['failure']; // Written by the machine.
      return addItem(reader, { type, status: say('status'), ...defined({ failure }) });
    }
    case 'taken-over':
    case 'parked':
      return addItem(reader, { type, crashes: count('crashes') });
    case 'changed': {
      const differences = at(body, ['differences']);
      const list = Array.isArray(differences)
        ? differences.map((one) => clean(String(one), maxSentence))
        : [];
      return addItem(reader, { type, differences: list });
    }
    case 'forked':
      return addItem(reader, { type, from: say('from'), seq: count('seq') });
    case 'imported':
    case 'moved': {
      const provenance = readProvenance(at(body, ['provenance']));
      const how = provenance === undefined ? {} : { how: clean(provenanceText(provenance), maxSentence) };
      const named = at(body, ['run', 'runId']);
      const from = typeof named === 'string' ? { from: clean(named, maxSentence) } : {};
      return addItem(reader, { type: 'imported', ...from, ...how });
    }
    default:
      return addItem(reader, { type: 'note', text: clean(text, maxSentence) });
  }
}

function addEmitted(reader: Reader, event: RunEvent, stored: StoredEvent): void {
  switch (event.type) {
    case 'turn-started':
      reader.turn = event.turn;
      reader.answers.clear();
      return addItem(reader, { type: 'turn', purpose: event.purpose });
    case 'recovery': {
      const { recovery, reason, failure, delayMs } = event;
      return addItem(reader, { type: 'decision', recovery, reason, failure, ...defined({ delayMs }) });
    }
    case 'approval-requested':
    case 'approval-answered':
    case 'run-suspended':
    case 'run-resumed':
      return addPerson(reader, event);
    case 'tool-finished':
      return addToolEnd(reader, event, stored);
    case 'tool-withdrawn':
      return addItem(reader, { type: event.type, tool: event.name, why: clean(event.reason, maxSentence) });
    case 'tool-restored':
      return addItem(reader, { type: event.type, tool: event.name });
    case 'limit-reached':
      return addItem(reader, { type: 'limit', limit: event.limit, reason: event.reason });
    case 'history-compacted': {
      const { why, strategy, tokensBefore, tokensAfter, failure } = event;
      const body = { type: 'compaction', why, strategy, tokensBefore, tokensAfter } as const;
      return addItem(reader, { ...body, ...defined({ failure }) });
    }
    case 'history-repaired':
      return addItem(reader, {
        type: 'note',
        text: `The conversation was repaired: ${event.repairs.join('; ')}`,
      });
    case 'arguments-repaired':
      return addItem(reader, {
        type: 'note',
        text: `The arguments for "${event.name}" were no JSON, and were read in the one way they can be`,
      });
    default:
      // Events of work in progress are not on record; failures are emitted with the decision about them.
      return undefined;
  }
}

type PersonEvent = Extract<
  RunEvent,
  { readonly type: 'approval-requested' | 'approval-answered' | 'run-suspended' | 'run-resumed' }
>;

function addPerson(reader: Reader, event: PersonEvent): void {
  switch (event.type) {
    case 'approval-requested': {
      const { request } = event;
      reader.questions.set(request.id, { request, seq: reader.seq, atMs: reader.atMs });
      return addItem(reader, { type: 'question', request });
    }
    case 'approval-answered': {
      const { id, verdict, reason, changed } = event;
      const asked = reader.questions.get(id);
      if (asked !== undefined && 'hash' in asked.request)
        reader.answers.set(asked.request.hash, {
          verdict,
          reason,
          ...defined({ changed }),
          seqs: [asked.seq, reader.seq],
        });
      const body = {
        type: 'answer',
        id,
        verdict,
        reason,
        ...(changed === undefined ? {} : { changed: changeTexts(changed) }),
      } as const;
      if (asked === undefined) return addItem(reader, body);
      return addItem(reader, { ...body, afterMs: reader.atMs - asked.atMs }, [asked.seq]);
    }
    case 'run-suspended': {
      const { reason, resumeAt, request } = event;
      return addItem(reader, { type: 'suspended', reason, ...defined({ resumeAt, request }) });
    }
    default: {
      const since = reader.items.findLast(({ type }) => type === 'suspended' || type === 'ended');
      return addItem(reader, {
        type: 'resumed',
        ...(since === undefined ? {} : { afterMs: reader.atMs - since.atMs }),
      });
    }
  }
}
