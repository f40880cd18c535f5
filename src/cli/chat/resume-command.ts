import type { RunRow, StoredStatus } from '../../model/store/store.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { Chat } from './chat.ts';
import { resumeTurn } from './take-turn.ts';

const resumable: readonly StoredStatus[] = ['running', 'suspended', 'parked', 'cancelled', 'failed'];
const maxListed = 5;

/** `/resume`: resumes the last run of this chat that did not end, or with the one that is named. */
export async function resumeCommand(chat: Chat, given: string): Promise<void> {
  const { agent, io, face, last } = chat;
  const isThere = chat.exchanges.some(({ runId }) => runId === last?.runId);
  const lastOpen = isThere && last !== undefined && isOpen(last.outcome.type) ? last.runId : undefined;
  const wanted = given === '' ? lastOpen : given;
  if (wanted !== undefined) {
    const nowMs = io.now();
    const { runId } = await findRunByPrefix(agent.store, wanted, {
      command: io.command,
      storeFlag: chat.parts.storeFlag,
      nowMs,
    });
    return resumeTurn(chat, runId);
  }
  const { runs } = await agent.store.runs.list({
    status: resumable,
    agent: agent.agent.name,
    limit: maxListed,
  });
  // A run of another process continues there.
  const free = runs.filter(({ owner }) => owner === undefined);
  if (free.length === 0) return face.say('There is no run that can be resumed.');
  face.say('These can be resumed, the latest first:');
  for (const row of free) face.say(`  /resume ${safeQuote(row.runId, 200)}  ${aboutRun(row)}`);
}

function isOpen(type: string): boolean {
  return type === 'cancelled' || type === 'failed' || type === 'suspended';
}

function aboutRun({ status, text, reason }: RunRow): string {
  const state = status === 'running' ? 'interrupted' : status;
  const why = reason === undefined ? '' : ` (${safeQuote(reason, 60)})`;
  return `${state}${why}: “${safeQuote(text, 60)}”`;
}
