import type { Message } from '../model/message.ts';
import type { SessionPage, SessionRow } from '../model/store/store.ts';
import { encodeContent } from '../storage/common/stored-text.ts';
import type { HeldSession, StoreData } from './memory-store-data.ts';
import { pageOf } from './memory-store-queries.ts';

export function putBlob(data: StoreData, content: string, runId: string): string {
  const { hash } = encodeContent(content);
  const blob = data.blobs.get(hash) ?? { content, runIds: new Set() };
  blob.runIds.add(runId);
  data.blobs.set(hash, blob);
  const ofRun = data.blobsOfRun.get(runId) ?? new Set();
  data.blobsOfRun.set(runId, ofRun.add(hash));
  return hash;
}

interface SessionAddition {
  readonly sessionId: string;
  readonly messages: readonly Message[];
  readonly runId: string;
}

export function appendMessages(data: StoreData, { sessionId, messages, runId }: SessionAddition): void {
  const texts = messages.map((message) => JSON.stringify(message));
  const nowMs = data.nowMs();
  const session = data.sessions.get(sessionId) ?? {
    sessionId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    messages: [],
    times: [],
    runIds: new Set(),
  };
  data.sessions.set(sessionId, session);
  if (session.runIds.has(runId)) return;
  session.runIds.add(runId);
  session.messages.push(...texts);
  session.times.push(...texts.map(() => nowMs));
  session.updatedAtMs = nowMs;
}

export function readMessages(data: StoreData, sessionId: string, last: number): readonly Message[] {
  const texts = data.sessions.get(sessionId)?.messages ?? [];
  return texts.slice(Math.max(0, texts.length - last)).map((text) => JSON.parse(text) as Message); // Written by us.
}

export function findSession(data: StoreData, sessionId: string): SessionRow | undefined {
  const session = data.sessions.get(sessionId);
  return session === undefined ? undefined : rowOfSession(session);
}

export function listSessions(
  data: StoreData,
  query: { readonly limit?: number; readonly cursor?: string },
): SessionPage {
  const { items, next } = pageOf([...data.sessions.values()], {
    ...query,
    idOf: ({ sessionId }) => sessionId,
  });
  return { sessions: items.map(rowOfSession), ...(next === undefined ? {} : { next }) };
}

export function trimSession(data: StoreData, sessionId: string, count: number): number {
  const session = data.sessions.get(sessionId);
  if (session === undefined) return 0;
  const removed = Math.min(Math.max(0, count), session.messages.length);
  session.messages.length -= removed;
  session.times.length -= removed;
  session.updatedAtMs = data.nowMs();
  return removed;
}

export function rowOfSession({ sessionId, createdAtMs, updatedAtMs, messages }: HeldSession): SessionRow {
  return { sessionId, createdAtMs, updatedAtMs, messages: messages.length };
}
