import type { Failure } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { safeQuote } from '../view/safe-text.ts';
import type { Chat } from './chat.ts';
import { compactSession } from './compact-session.ts';
import { resumeCommand } from './resume-command.ts';
import { unknownCommand } from './slash-line.ts';
import { takeTurn } from './take-turn.ts';
import { undo } from './undo.ts';
import { fillCommand } from './user-commands.ts';
import { whyCommand } from './why-command.ts';

/** A command of the chat. */
interface SlashCommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** It only shows something, so that it can be typed while a turn is under way. */
  readonly onlyShows?: true;
  readonly run: (chat: Chat, given: string) => void | Promise<void>;
}

const ownCommands: readonly SlashCommand[] = [
  {
    name: 'model',
    usage: '/model [name]',
    summary: 'Show the models, or ask another one from now on',
    run: (chat, given) => (given === '' ? showModels(chat) : changeModel(chat, given)),
  },
  { name: 'tools', usage: '/tools', summary: 'List what the model may use', onlyShows: true, run: showTools },
  { name: 'why', usage: '/why [run]', summary: 'Say why the last turn went as it did', run: whyCommand },
  {
    name: 'undo',
    usage: '/undo',
    summary: 'Take back the last exchange and its changes of files',
    run: undo,
  },
  { name: 'compact', usage: '/compact', summary: 'Make the conversation shorter', run: compactSession },
  {
    name: 'resume',
    usage: '/resume [run]',
    summary: 'Resume a run that was interrupted or waits',
    run: resumeCommand,
  },
  { name: 'help', usage: '/help', summary: 'Show this', onlyShows: true, run: showHelp },
  { name: 'exit', usage: '/exit', summary: 'Leave; Ctrl-D does too', run: (chat) => chat.end(0) },
];

/** Every name that may follow a slash. */
export function commandNames({ commands }: Pick<Chat, 'commands'>): readonly string[] {
  return [...new Set([...ownCommands.map(({ name }) => name), ...commands.map(({ name }) => name)])];
}

/** What may stand after a command, for Tab. */
export function commandArguments({ agent }: Pick<Chat, 'agent'>, name: string): readonly string[] {
  return name === 'model' ? agent.settings.models.map((model) => model.name) : [];
}

/** Does what was typed after a slash. A command of the user's own sends its text to the model. */
export async function runSlash(
  chat: Chat,
  { name, given }: { readonly name: string; readonly given: string },
): Promise<void> {
  const own = ownCommands.find((command) => command.name === name);
  const user = chat.commands.find((command) => command.name === name);
  if (own === undefined && user === undefined)
    return chat.face.say(unknownCommand(safeQuote(name, 40), commandNames(chat)), 'failure');
  const isShown = own?.onlyShows === true || (own?.name === 'model' && given === '');
  if (chat.state.type !== 'idle' && !isShown)
    return chat.face.say(
      `/${name} has to wait for the end of this turn. Ctrl-C cancels the turn.`,
      'failure',
    );
  if (own === undefined) return user === undefined ? undefined : takeTurn(chat, fillCommand(user, given));
  await perform(chat, own, given);
}

async function perform(chat: Chat, command: SlashCommand, given: string): Promise<void> {
  const isIdle = chat.state.type === 'idle';
  if (isIdle) chat.state = { type: 'busy' };
  try {
    await command.run(chat, given);
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    chat.face.say(wordsOf(error.failure), 'failure');
  } finally {
    if (chat.state.type === 'busy' && isIdle) chat.state = { type: 'idle' };
    chat.face.refresh();
  }
}

/** As the command line says it: what was typed is in the message, and what to type instead in the hint. */
function wordsOf(failure: Failure): string {
  const { message, hint, code } = printableFailure(failure);
  const stop = /[.?!]$/.test(message) ? '' : '.';
  return `${message}${stop}${hint === undefined ? '' : ` ${hint}`} (${code})`;
}

function showModels({ agent, face }: Chat): void {
  const { models, modelLine } = agent.settings;
  face.say(safeQuote(modelLine, 400));
  for (const [index, { name }] of models.entries())
    face.say(
      `  ${index + 1}. ${safeQuote(name, 100)}${index === 0 ? ', asked first' : ', where those above it fail'}`,
    );
  face.say('Another one: /model <provider>:<name>', 'dim');
}

/** The conversation continues in the same session, with another agent of the same name. */
async function changeModel(chat: Chat, model: string): Promise<void> {
  const former = chat.agent;
  chat.agent = await chat.parts.open({ model }, { onApproval: chat.ask });
  await former.close();
  chat.face.say(safeQuote(chat.agent.settings.modelLine, 400));
}

const permissions = { allow: 'runs at once', ask: 'asks you first', deny: 'is denied' } as const;
const effects = {
  read: 'only reads',
  idempotent: 'may be repeated',
  once: 'is never repeated by itself',
} as const;

function showTools({ agent, face }: Chat): void {
  if (agent.tools.length === 0) return face.say('The model has no tools here.');
  for (const { name, description, effect, permission } of agent.tools) {
    const what = safeQuote(description ?? '', 100);
    face.say(`${safeQuote(name, 60)}: ${permissions[permission]}, ${effects[effect]}. ${what}`.trim());
  }
  face.say('Rules of the configuration may be stricter than what a tool says of itself.', 'dim');
}

function showHelp({ face, commands }: Chat): void {
  const rows = [
    ...ownCommands.map(({ usage, summary }) => ({ usage, summary })),
    ...commands.map(({ name, description }) => ({ usage: `/${name}`, summary: safeQuote(description, 80) })),
  ];
  const width = Math.max(...rows.map(({ usage }) => usage.length)) + 2;
  for (const { usage, summary } of rows) face.say(`${usage.padEnd(width)}${summary}`);
  face.say(keysHelp, 'dim');
}

const keysHelp =
  'Enter sends. Alt-Enter, Ctrl-J or a backslash at the end begins a new line. Up and down go through what you typed before, Tab completes a command. Ctrl-C cancels the turn; twice within two seconds leaves. What you type while a turn is under way is added to it.';
