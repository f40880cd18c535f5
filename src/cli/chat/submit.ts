import { unreachable } from '../../base/assert.ts';
import { errnoOf } from '../../tools/workspace/workspace-error.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { Chat, ChatState } from './chat.ts';
import { runSlash } from './slash-commands.ts';
import { readTyped } from './slash-line.ts';
import { addToTurn, takeTurn } from './take-turn.ts';

/** Does what a line that was sent off asks for: a command, a message, or one more to a turn that is under way. */
export async function submit(chat: Chat, text: string): Promise<void> {
  if (text.trim() === '' || chat.state.type === 'ended') return;
  chat.face.echo(text);
  await keep(chat, text);
  const typed = readTyped(text);
  if (typed.type === 'command') return runSlash(chat, typed);
  const { state }: { readonly state: ChatState } = chat as { readonly state: ChatState }; // It may have changed meanwhile.
  switch (state.type) {
    case 'idle':
      return takeTurn(chat, text);
    case 'running':
      return addToTurn(chat, state.runId, text);
    case 'busy':
      return chat.face.say('One moment: the last command is not done yet. Send it again then.', 'failure');
    case 'ended':
      return undefined;
    default:
      return unreachable(state);
  }
}

/** A history that cannot be written is reported once, and stops nothing. */
async function keep(chat: Chat, text: string): Promise<void> {
  try {
    await chat.history.add(text);
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    if (chat.isHistoryLost) return;
    chat.isHistoryLost = true;
    chat.face.say(`What you type is not kept for the next time: ${safeQuote(code, 40)}`, 'dim');
  }
}
