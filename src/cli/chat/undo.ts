import type { TakenBack } from '../../tools/workspace/take-back.ts';
import { visible } from '../../base/printable.ts';
import { isNote } from '../../model/compaction-notes.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { Chat, Exchange } from './chat.ts';

/** `/undo`: takes the last exchange out of the session, and back what its run changed in files. */
export async function undo(chat: Chat): Promise<void> {
  const { agent, face, sessionId } = chat;
  const exchange = chat.exchanges.at(-1) ?? (await lastOfSession(chat));
  if (exchange === undefined) return face.say('There is nothing to take back.');
  const files = await exchange.agent.takeBack(exchange.runId);
  const removed = exchange.messages === 0 ? 0 : await agent.store.sessions.trim(sessionId, exchange.messages);
  chat.exchanges.pop();
  const gone =
    removed === 0
      ? 'it had added nothing to the conversation'
      : `${removed} ${removed === 1 ? 'message is' : 'messages are'} out of the conversation`;
  face.say(`Taken back: “${safeQuote(exchange.text, 60)}”; ${gone}.`);
  for (const file of files)
    face.say(`  ${fileText(file)}`, file.result === 'changed-since' ? 'failure' : 'dim');
  face.say(
    'What a command has done outside the files that tools wrote stays done, and the record of the run is kept.',
    'dim',
  );
}

function fileText({ path, result }: TakenBack): string {
  return `${visible(path)} ${results[result]}`;
}

const results = {
  restored: 'is as it was before',
  removed: 'is gone again: it was not there before',
  'changed-since': 'was left alone: it was changed by another program since',
} as const;

const maxLookBack = 500;

/** Of a session from an earlier chat: from the last message of the person on. Which run it was is not known, so no file changes. */
async function lastOfSession({ agent, sessionId }: Chat): Promise<Exchange | undefined> {
  const messages = await agent.store.sessions.messages(sessionId, { last: maxLookBack });
  const start = messages.findLastIndex((message) => message.role === 'user' && !isNote(message));
  const asked = messages[start];
  if (asked === undefined) return undefined;
  const text = typeof asked.content === 'string' ? asked.content : '';
  return { runId: '', text, messages: messages.length - start, agent };
}
