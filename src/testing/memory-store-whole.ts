import type { Json } from '../base/json.ts';
import type { Restored, WholeRun, WholeSession } from '../model/store/whole-run.ts';
import { chainOf } from '../storage/common/whole-chain.ts';
import { rowOf } from './memory-store-data.ts';
import type { HeldRun, HeldSignal, StoreData } from './memory-store-data.ts';
import { readEvents } from './memory-store-runs.ts';
import { readMessages, rowOfSession } from './memory-store-sessions.ts';

export function readWhole(data: StoreData, runId: string): WholeRun | undefined {
  const run = data.runs.get(runId);
  if (run === undefined) return undefined;
  return {
    row: rowOf(data, run),
    events: readEvents(data, runId, {}),
    signals: [...run.signalIds.values()].map(({ id, name, atMs }) => {
      const waiting = run.signals.get(id);
      const payload = JSON.parse(waiting?.payloadText ?? 'null') as Json; // Written by us.
      return { id, name, payload, atMs, isTaken: waiting === undefined };
    }),
    blobs: [...(data.blobsOfRun.get(runId) ?? [])].toSorted(),
  };
}

export function restoreRun(data: StoreData, whole: WholeRun): Restored {
  const { row, events, signals } = whole;
  const { runId, agent, sessionId, createdAtMs, updatedAtMs, headSeq, generationSeq } = row;
  if (data.runs.has(runId)) return 'exists';
  chainOf(whole);
  const waiting = signals.filter(({ isTaken }) => !isTaken);
  const { status, text, tools, turns, crashes } = row;
  const { code = null, reason = null, resumeAtMs = null, costUsd = null } = row;
  const run: HeldRun = {
    runId,
    agent,
    sessionId,
    createdAtMs,
    updatedAtMs,
    headSeq,
    generationSeq,
    // Hashed anew when somebody wants to see it: by the same hashes, as was just seen.
    events: events.map(({ atMs, type, body }) => ({
      atMs,
      type,
      bodyText: JSON.stringify(body),
      hash: undefined,
      hashed: undefined,
    })),
    signals: new Map(
      waiting.map(({ id, name, payload, atMs }): [string, HeldSignal] => [
        id,
        { id, name, payloadText: JSON.stringify(payload), atMs },
      ]),
    ),
    signalIds: new Map(signals.map(({ id, name, atMs }) => [id, { id, name, atMs }])),
    lostHash: undefined,
    listed: { status, text, tools: [...tools], turns, crashes, code, reason, resumeAtMs, costUsd },
    lease: undefined,
  };
  data.runs.set(runId, run);
  return 'restored';
}

export function readWholeSession(data: StoreData, sessionId: string): WholeSession | undefined {
  const session = data.sessions.get(sessionId);
  if (session === undefined) return undefined;
  const messages = readMessages(data, sessionId, Infinity);
  return {
    row: rowOfSession(session),
    messages: messages.map((message, index) => ({ atMs: session.times[index] ?? 0, message })),
    runIds: [...session.runIds].toSorted(),
  };
}

export function restoreSession(data: StoreData, { row, messages, runIds }: WholeSession): Restored {
  const { sessionId, createdAtMs, updatedAtMs } = row;
  if (data.sessions.has(sessionId)) return 'exists';
  data.sessions.set(sessionId, {
    sessionId,
    createdAtMs,
    updatedAtMs,
    messages: messages.map(({ message }) => JSON.stringify(message)),
    times: messages.map(({ atMs }) => atMs),
    runIds: new Set(runIds),
  });
  return 'restored';
}
