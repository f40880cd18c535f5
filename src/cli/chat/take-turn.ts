import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { failureText } from '../view/event-lines.ts';
import type { Chat, Exchange } from './chat.ts';

const maxExchanges = 200;

/** Sends a message to the model, and shows the run to its end. Never rejects for a failure. */
export async function takeTurn(chat: Chat, text: string): Promise<void> {
  const { parts, agent, sessionId } = chat;
  const runId = parts.newId();
  await carry(chat, { runId, text }, (options) => agent.agent.run(text, { ...options, runId, sessionId }));
}

/** More questions than anybody answers in one sitting. */
const maxQuestions = 1000;

/** Resumes a run that was interrupted or waits; its questions are asked here. */
export async function resumeTurn(chat: Chat, runId: string): Promise<void> {
  const { agent } = chat;
  await carry(chat, { runId, text: `/resume ${runId}` }, async (options) => {
    let outcome = await agent.agent.resume(runId, options);
    for (let questions = 0; questions < maxQuestions; questions += 1) {
      const request = outcome.type === 'suspended' ? outcome.request : undefined;
      if (request === undefined || request.type === 'mend') break;
      const answer = await chat.ask(request, { signal: options.signal });
      if (answer === undefined) break;
      outcome = await agent.agent.resume(runId, { ...options, answer });
    }
    return outcome;
  });
}

/** Puts a message into the run that is under way. */
export async function addToTurn(chat: Chat, runId: string, text: string): Promise<void> {
  try {
    await chat.agent.agent.inject(runId, text);
    chat.added.push(text);
    chat.face.say(
      'Added: the model reads it at its next turn. To stop the turn instead, press Ctrl-C.',
      'dim',
    );
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    chat.face.say(`Not added: ${failureText(error.failure)}`, 'failure');
  }
}

interface Turn {
  readonly runId: string;
  readonly text: string;
}

interface CarryOptions {
  readonly signal: AbortSignal;
  readonly onEvent: (event: RunEvent) => void;
}

async function carry(
  chat: Chat,
  { runId, text }: Turn,
  start: (options: CarryOptions) => Promise<RunOutcome>,
): Promise<void> {
  const controller = new AbortController();
  chat.state = { type: 'running', runId, controller };
  const before = await countMessages(chat);
  let ended: RunOutcome | undefined;
  try {
    const outcome = await start({ signal: controller.signal, onEvent: (event) => hear(chat, event) });
    ended = outcome;
    chat.last = { runId, outcome };
    remember(chat, {
      runId,
      text,
      messages: Math.max(0, (await countMessages(chat)) - before),
      agent: chat.agent,
    });
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    chat.face.say(failureText(error.failure), 'failure');
  } finally {
    if (chat.state.type === 'running') chat.state = { type: 'idle' };
    chat.face.refresh();
  }
  if (ended !== undefined && chat.state.type === 'idle') await askUnread(chat, ended);
}

function hear(chat: Chat, event: RunEvent): void {
  if (event.type === 'messages-injected') chat.added.splice(0, event.messages.length);
  chat.view.hear(event);
}

/** A message that came after the last turn is asked separately; if the run can be resumed, it is read then. */
async function askUnread(chat: Chat, outcome: RunOutcome): Promise<void> {
  const unread = chat.added.splice(0);
  if (unread.length === 0) return;
  if (outcome.type === 'completed' || outcome.type === 'stopped') {
    chat.face.say('Your message came after the last turn, so it is asked now.', 'dim');
    return takeTurn(chat, unread.join('\n\n'));
  }
  chat.face.say('The model has not read your message: it does when the run resumes.', 'dim');
}

/** A run that was resumed in this chat is one exchange, however often. */
function remember(chat: Chat, exchange: Exchange): void {
  const place = chat.exchanges.findIndex(({ runId }) => runId === exchange.runId);
  const [former] = place >= 0 ? chat.exchanges.splice(place, 1) : [];
  chat.exchanges.push(former === undefined ? exchange : { ...exchange, text: former.text });
  if (chat.exchanges.length > maxExchanges) chat.exchanges.shift();
}

/** Messages of the session. What cannot be counted now is reported by the run itself. */
async function countMessages({ agent, sessionId }: Chat): Promise<number> {
  try {
    return (await agent.store.sessions.find(sessionId))?.messages ?? 0;
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    return 0;
  }
}
