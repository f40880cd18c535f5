import { defined } from '../../base/defined.ts';
import { hashEvent } from '../../model/store/event-chain.ts';
import type { Addition, RowChange } from '../../model/store/store.ts';
import { encodeContent } from './stored-text.ts';

/** An addition whose bodies are text: written when the verb was called, so that nothing done to them later matters. */
export interface TextAddition extends Omit<Addition, 'events'> {
  readonly events: readonly { readonly type: string; readonly bodyText: string }[];
}

export function toTexts({ events, row, took }: Addition): TextAddition {
  return {
    events: events.map(({ type, body }) => ({ type, bodyText: bodyTextOf(body) })),
    ...(row === undefined ? {} : { row: copyRow(row) }),
    ...(took === undefined ? {} : { took: [...took] }),
  };
}

/** The text of a body. Throws where it is no JSON. */
export function bodyTextOf(body: unknown): string {
  const text = JSON.stringify(body) as string | undefined;
  if (text === undefined) throw new TypeError(`The body of an event is no JSON: its type is ${typeof body}`);
  return text;
}

function copyRow(row: RowChange): RowChange {
  return row.tools === undefined ? { ...row } : { ...row, tools: [...row.tools] };
}

/** An event with its place and its hash. */
export interface HashedEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly type: string;
  /** As it is kept: the text, or the name of a blob. */
  readonly bodyText: string;
  readonly blob: string | undefined;
  readonly hash: string;
}

/** What the events are chained to. */
export interface ChainEnd {
  readonly runId: string;
  readonly headSeq: number;
  readonly headHash: string;
}

/** Longer bodies are kept apart, and the event names them. */
export const maxBodyCharacters = 262_144;

/** The events of an addition, chained to those before them. */
export function hashEvents(
  { runId, headSeq, headHash }: ChainEnd,
  { events }: TextAddition,
  atMs: number,
): readonly HashedEvent[] {
  let previous = headHash;
  return events.map(({ type, bodyText: whole }, index) => {
    const seq = headSeq + 1 + index;
    const isLong = whole.length > maxBodyCharacters;
    const bodyText = keptText(whole);
    const hash = hashEvent(previous, { runId, seq, atMs, type, bodyText });
    previous = hash;
    return { seq, atMs, type, bodyText, blob: isLong ? whole : undefined, hash };
  });
}

/** What an event holds, and what is hashed: its body, or a mark of one that is kept apart. No JSON begins so. */
export function keptText(bodyText: string): string {
  return bodyText.length > maxBodyCharacters ? `@${encodeContent(bodyText).hash}` : bodyText;
}

/** The hash in a mark, if it is one. */
export function hashInMark(bodyText: string): string | undefined {
  return bodyText.startsWith('@') ? bodyText.slice(1) : undefined;
}

/** The fields of a row that a change names; the texts stand elsewhere. */
export function changedFields(row: RowChange | undefined): ChangedFields {
  if (row === undefined) return {};
  const { status, code, reason, resumeAtMs, turns, costUsd, crashes } = row;
  return defined({ status, code, reason, resumeAtMs, turns, costUsd, crashes });
}

/** As a record has them. */
export type ChangedFields = Pick<
  RowChange,
  'status' | 'code' | 'reason' | 'resumeAtMs' | 'turns' | 'costUsd' | 'crashes'
>;
