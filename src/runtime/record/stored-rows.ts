import type { Rejections } from '../../agent/approval/approval.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { isRecord } from '../../base/json.ts';
import { textOf } from '../../model/message.ts';
import type { Message } from '../../model/message.ts';
import type { RowChange } from '../../model/store/store.ts';

/** Enough to find a run by what was said; the record holds the rest. */
const maxSearchedCharacters = 4000;
const maxListedTools = 50;

/** What is listed of a run that begins. */
export function rowOfStart(input: unknown): Pick<RowChange, 'text'> {
  const messages = isRecord(input) && Array.isArray(input['messages']) ? input['messages'] : [];
  const last: unknown = messages.at(-1);
  return { text: isMessage(last) ? contentOf(last).slice(0, maxSearchedCharacters) : '' };
}

/** What is listed of a run that has an outcome. */
export function rowOfOutcome(outcome: RunOutcome, rejections: Pick<Rejections, 'count'>): RowChange {
  const { messages, turns, usage } = outcome;
  const asked = messages.find(({ role }) => role === 'user');
  const answer = answerIn(outcome);
  const half = maxSearchedCharacters / 2;
  const text = `${asked === undefined ? '' : contentOf(asked).slice(0, half)}\n${answer.slice(0, half)}`;
  return {
    status: outcome.type,
    text,
    tools: toolsIn(messages),
    turns,
    costUsd: usage.costUsd ?? null,
    code: ('failure' in outcome ? outcome.failure?.code : undefined) ?? null,
    reason: reasonOf(outcome, rejections),
    resumeAtMs: outcome.type === 'suspended' ? resumeAtOf(outcome) : null,
  };
}

/** A run that was not allowed something may still have an answer: a list must not show it as all that was asked. */
function reasonOf(outcome: RunOutcome, { count }: Pick<Rejections, 'count'>): string | null {
  if (outcome.type === 'completed') return count === 0 ? null : `denied:${count}`;
  return 'reason' in outcome ? outcome.reason : null;
}

function answerIn(outcome: RunOutcome): string {
  if (outcome.type === 'completed') return outcome.text;
  return 'partial' in outcome ? outcome.partial : '';
}

/** When it should be resumed, answered or not: a question without an answer is denied. */
function resumeAtOf({ resumeAt, request }: Extract<RunOutcome, { type: 'suspended' }>): number | null {
  return resumeAt ?? (request?.type === 'approval' ? request.expiresAt : null);
}

function toolsIn(messages: readonly Message[]): readonly string[] {
  const names = new Set<string>();
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue;
    for (const part of content) if (part.type === 'tool-call') names.add(part.name);
    if (names.size >= maxListedTools) break;
  }
  return [...names];
}

function isMessage(message: unknown): message is Message {
  return isRecord(message) && 'content' in message;
}

function contentOf({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}
