import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import { openHistory } from '../editor/history-file.ts';
import type { CliIo } from '../start/io.ts';
import { answerSteps } from '../run-reading/next-steps.ts';
import { usageError } from '../text/usage-error.ts';
import { createRunView } from '../view/create-run-view.ts';
import type { RunView } from '../view/run-view.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { RunViewOptions } from '../view/view-options.ts';
import type { Chat, ChatFace } from './chat.ts';
import type { ChatHandlers, ChatParts } from './chat-parts.ts';
import { noteInterrupt, stopFromOutside } from './interrupt.ts';
import { createLinePrompt } from './line-chat.ts';
import { createLivePrompt } from './live-chat.ts';
import { readUserCommands } from './user-commands.ts';

/**
 * Talks with the agent at the terminal until the person leaves. Gives the exit code. Throws a usage error without a terminal, and
 * what is wrong with the configuration.
 */
export async function holdChat(parts: ChatParts, io: CliIo): Promise<number> {
  if (io.terminal !== undefined) return chatLive(parts, io, createLivePrompt(io, io.terminal, parts));
  if (io.isTerminal.stdin && io.isTerminal.stdout) return chatInLines(parts, io);
  throw usageError({
    message: 'A chat needs a terminal to type at, and there is none here',
    hint: `For one question without a terminal, type: ${io.command} run "…"`,
  });
}

async function chatLive(
  parts: ChatParts,
  io: CliIo,
  { stage, face, start, setAsking }: ReturnType<typeof createLivePrompt>,
): Promise<number> {
  const ask = async (
    view: RunView,
    request: PersonRequest,
    signal: AbortSignal,
  ): Promise<RunAnswer | undefined> => {
    setAsking(true);
    try {
      return await view.ask(request, signal);
    } finally {
      setAsking(false);
    }
  };
  return converse({ parts, io, face, ask, viewOptions: { stage } }, (chat, onDefect) =>
    start(chat, onDefect),
  );
}

async function chatInLines(parts: ChatParts, io: CliIo): Promise<number> {
  const { face, readLine, converse: readOn } = createLinePrompt(io);
  const ask = (view: RunView, request: PersonRequest, signal: AbortSignal): Promise<RunAnswer | undefined> =>
    view.ask(request, signal);
  return converse({ parts, io, face, ask, viewOptions: { readLine } }, (chat, onDefect) => {
    void readOn(chat).catch(onDefect);
  });
}

interface Conversation {
  readonly parts: ChatParts;
  readonly io: CliIo;
  readonly face: ChatFace;
  readonly ask: (
    view: RunView,
    request: PersonRequest,
    signal: AbortSignal,
  ) => Promise<RunAnswer | undefined>;
  readonly viewOptions: RunViewOptions;
}

async function converse(
  conversation: Conversation,
  start: (chat: Chat, onDefect: (error: unknown) => void) => void,
): Promise<number> {
  const { parts, face } = conversation;
  const ending = createEnding();
  const chat = await openChat(conversation, (exitCode) => {
    chat.state = { type: 'ended' };
    ending.resolve(exitCode);
  });
  const stopListening = parts.onSignal((name) => stopFromOutside(chat, name));
  try {
    greet(chat);
    start(chat, ending.reject);
    const exitCode = await ending.promise;
    sayGoodbye(chat);
    return exitCode;
  } finally {
    stopListening();
    chat.state = { type: 'ended' };
    chat.view.close();
    face.close();
    await chat.agent.close();
  }
}

interface Ending {
  readonly promise: Promise<number>;
  readonly resolve: (exitCode: number) => void;
  readonly reject: (error: unknown) => void;
}

function createEnding(): Ending {
  const made: { resolve?: Ending['resolve']; reject?: Ending['reject'] } = {};
  const promise = new Promise<number>((resolve, reject) => {
    made.resolve = resolve;
    made.reject = reject;
  });
  return { promise, resolve: (code) => made.resolve?.(code), reject: (error) => made.reject?.(error) };
}

async function openChat(conversation: Conversation, end: (exitCode: number) => void): Promise<Chat> {
  const { parts, io, face, viewOptions } = conversation;
  const late: { chat?: Chat } = {};
  const ask: ChatHandlers['onApproval'] = async (request, { signal }) =>
    late.chat === undefined ? undefined : conversation.ask(late.chat.view, request, signal);
  const agent = await parts.open({}, { onApproval: ask });
  const found = await readUserCommands(agent.settings);
  for (const problem of found.problems) face.say(safeQuote(problem, 400), 'failure');
  const view = createRunView(io, {
    ...viewOptions,
    clock: parts.clock,
    maxAttempts: resolveRetryPolicy(agent.settings.retry).maxAttempts,
    resumeCommand: (runId) => `${io.command} resume ${runId}${parts.storeFlag}`,
    answerSteps: (request, runId) =>
      answerSteps(request, runId, { command: io.command, storeFlag: parts.storeFlag }),
    preview: async (request, signal) => late.chat?.agent.preview?.(request, signal),
    onInterrupt: () => {
      if (late.chat !== undefined) noteInterrupt(late.chat);
      return 'no';
    },
  });
  late.chat = {
    parts,
    io,
    face,
    view,
    ask,
    agent,
    end,
    history: await openHistory(parts.historyFile),
    sessionId: parts.sessionId ?? parts.newId(),
    commands: found.commands,
    state: { type: 'idle' },
    exchanges: [],
    added: [],
    last: undefined,
    interruptedAtMs: -Infinity,
    isHistoryLost: false,
  };
  return late.chat;
}

function greet({ agent, face, parts, sessionId }: Chat): void {
  face.say(safeQuote(agent.settings.modelLine, 400));
  for (const notice of agent.settings.notices) face.say(safeQuote(notice, 600), 'recovery');
  if (parts.sessionId !== undefined)
    face.say(`Continuing the conversation ${safeQuote(sessionId, 200)}.`, 'dim');
  face.say('/help lists the commands, Ctrl-D leaves.', 'dim');
}

function sayGoodbye({ exchanges, face, io, parts, sessionId }: Chat): void {
  if (exchanges.length === 0) return;
  face.say('');
  face.say('Continue this conversation:', 'dim');
  // On a line of its own, so that it can be copied.
  face.say(`  ${io.command} chat --session ${safeQuote(sessionId, 200)}${parts.storeFlag}`, 'dim');
}
