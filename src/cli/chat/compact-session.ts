import { planCompaction } from '../../context/plan-compaction.ts';
import { applyCompaction } from '../../model/apply-compaction.ts';
import { tokensText } from '../view/amounts.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { Chat } from './chat.ts';

const maxMessages = 5000;
const keepLastTurns = 2;

/**
 * `/compact`: continues in a new session that begins with the shorter conversation. The former one stays as it is, so that nothing
 * is lost by it.
 */
export async function compactSession(chat: Chat): Promise<void> {
  const { agent, face, parts, sessionId } = chat;
  const messages = await agent.store.sessions.messages(sessionId, { last: maxMessages });
  const plan = planCompaction({
    messages,
    fixedTokens: 0,
    reason: { type: 'overflow' },
    rules: { strategies: ['clear-results', 'window'], keepLastTurns },
    isRead: (name) => agent.tools.some((tool) => tool.name === name && tool.effect === 'read'),
  });
  if (plan === undefined) return face.say('The conversation is short already: there is nothing to save.');
  const next = parts.newId();
  await agent.store.sessions.append(next, applyCompaction(messages, plan), `compact:${next}`);
  chat.sessionId = next;
  // What they would remove is no longer where they knew it to be.
  for (const [index, exchange] of chat.exchanges.entries())
    chat.exchanges[index] = { ...exchange, messages: 0 };
  const { tokensBefore, tokensAfter } = plan;
  face.say(
    `The conversation was made shorter: ${tokensText(tokensBefore)} → ${tokensText(tokensAfter)}, by estimate.`,
    'recovery',
  );
  face.say(
    `The whole one is kept: ${chat.io.command} chat --session ${safeQuote(sessionId, 200)}${parts.storeFlag}`,
    'dim',
  );
}
