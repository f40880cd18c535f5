import { readRun } from '../run-reading/read-run.ts';
import { whyAnswers } from '../run-reading/why-answers.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { Chat } from './chat.ts';

/** `/why`: why a run retried, asked this model, stopped or waits, from its record. */
export async function whyCommand(chat: Chat, given: string): Promise<void> {
  const { agent, io, face } = chat;
  const wanted = given === '' ? chat.last?.runId : given;
  if (wanted === undefined) return face.say('Nothing was asked yet. /why <run> explains an earlier run.');
  const nowMs = io.now();
  const { runId } = await findRunByPrefix(agent.store, wanted, {
    command: io.command,
    storeFlag: chat.parts.storeFlag,
    nowMs,
  });
  const answers = whyAnswers(await readRun(agent.store, runId), { nowMs });
  const points = answers.flatMap((answer) => answer.points);
  if (points.length === 0) face.say('It went as it should: nothing was tried again, and nothing stopped it.');
  for (const { text } of points) face.say(`· ${safeQuote(text, 600)}`);
  face.say(
    `With the events behind each sentence: ${io.command} why ${safeQuote(runId, 200)}${chat.parts.storeFlag}`,
    'dim',
  );
}
