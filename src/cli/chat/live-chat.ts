import { createKeyboard } from '../editor/keyboard.ts';
import { beginEdit, edit, replaceText } from '../editor/edit.ts';
import type { EditState } from '../editor/edit.ts';
import { editorLines } from '../editor/editor-lines.ts';
import type { Key } from '../editor/key.ts';
import type { CliIo, Terminal } from '../start/io.ts';
import { createLiveScreen, partOrder } from '../view/live-screen.ts';
import type { PartLines } from '../view/live-screen.ts';
import { safeLine } from '../view/safe-text.ts';
import { fitColumns } from '../view/text-width.ts';
import type { Stage } from '../view/view-options.ts';
import { createViewPaint } from '../view/view-paint.ts';
import type { ViewPaint } from '../view/view-paint.ts';
import { wrapSpans } from '../view/wrap-spans.ts';
import type { Chat, ChatFace } from './chat.ts';
import type { ChatParts } from './chat-parts.ts';
import { interrupt } from './interrupt.ts';
import { commandArguments, commandNames } from './slash-commands.ts';
import { complete } from './slash-line.ts';
import { submit } from './submit.ts';

/** The terminal of a chat: what is said scrolls up, and a prompt stands at the bottom all the time. */
export interface LivePrompt {
  readonly stage: Stage;
  readonly face: ChatFace;
  /** Takes the keyboard for a chat. `onDefect` receives what should never happen. */
  readonly start: (chat: Chat, onDefect: (error: unknown) => void) => void;
  /** While another question is open, the prompt is hidden. */
  readonly setAsking: (isAsking: boolean) => void;
}

export function createLivePrompt(
  io: CliIo,
  terminal: Terminal,
  { clock }: Pick<ChatParts, 'clock'>,
): LivePrompt {
  const screen = createLiveScreen(terminal, clock);
  const stage: Stage = { screen, keyboard: createKeyboard(terminal, clock) };
  const held: Held = {
    ...createViewPaint(io),
    stage,
    editor: beginEdit(),
    chat: undefined,
    isAsking: false,
    handBack: undefined,
    onDefect: () => undefined,
  };
  return {
    stage,
    face: faceOf(held),
    start: (chat, onDefect) => {
      held.chat = chat;
      held.onDefect = onDefect;
      held.editor = beginEdit(chat.history.entries());
      screen.addPart(({ columns, rows }) => drawPrompt(held, columns, rows), partOrder.prompt);
      held.handBack = stage.keyboard.take((key) => hearKey(held, chat, key));
    },
    setAsking: (isAsking) => {
      held.isAsking = isAsking;
      screen.refresh();
    },
  };
}

interface Held extends ViewPaint {
  readonly stage: Stage;
  editor: EditState;
  chat: Chat | undefined;
  isAsking: boolean;
  handBack: (() => void) | undefined;
  onDefect: (error: unknown) => void;
}

function faceOf(held: Held): ChatFace {
  const { screen } = held.stage;
  const columns = (): number => Math.max(1, screen.columns() - 1);
  return {
    say: (text, look) => {
      const span = look === undefined ? { text } : { text, look };
      const rest = ' '.repeat(/^ */.exec(text)?.[0].length ?? 0);
      screen.print(wrapSpans([span], { columns: columns(), paint: held.paint, rest }));
    },
    echo: (text) => {
      const lines = text
        .trimEnd()
        .split('\n')
        .flatMap((line, index) =>
          wrapSpans([{ text: safeLine(line), look: 'bold' }], {
            columns: columns(),
            paint: held.paint,
            first: index === 0 ? '> ' : '  ',
            rest: '  ',
          }),
        );
      screen.print(['', ...lines]);
    },
    refresh: screen.refresh,
    close: () => {
      held.handBack?.();
      screen.close();
    },
  };
}

const maxPromptRows = 10;
const hints = {
  idle: 'ask for something, or /help',
  busy: 'one moment',
  running: 'type to add to this turn; Ctrl-C cancels it',
  ended: '',
} as const;

function drawPrompt(held: Held, columns: number, rows: number): PartLines {
  const { editor, paint, chat } = held;
  if (held.isAsking || chat === undefined) return { lines: [] };
  const maxRows = Math.max(1, Math.min(maxPromptRows, Math.floor(rows / 2)));
  const shown = editorLines(editor, {
    columns,
    maxRows,
    prompt: '> ',
    paintPrompt: (text) => paint('bold', text),
  });
  const cursor = shown.cursor ?? { row: 0, column: 0 };
  const hint =
    editor.text === '' ? paint('dim', fitColumns(hints[chat.state.type], columns - cursor.column)) : '';
  const lines = hint === '' ? shown.lines : [`${shown.lines[0] ?? ''}${hint}`];
  return { lines: ['', ...lines], cursor: { ...cursor, row: cursor.row + 1 } };
}

function hearKey(held: Held, chat: Chat, key: Key): void {
  const { stage } = held;
  const editor = withHistory(held.editor, chat);
  switch (key.type) {
    case 'interrupt':
      if (editor.text !== '' && chat.state.type !== 'running')
        held.editor = beginEdit(chat.history.entries());
      else interrupt(chat);
      break;
    case 'end-of-input':
      if (editor.text !== '') held.editor = edit(editor, { type: 'delete' });
      else leave(chat);
      break;
    case 'tab':
      held.editor = completeText(editor, chat);
      break;
    case 'clear-screen':
      stage.screen.clear();
      break;
    default:
      held.editor = edit(editor, key);
  }
  if (held.editor.isSubmitted) send(held, chat, held.editor.text);
  stage.screen.refresh();
}

function leave(chat: Chat): void {
  if (chat.state.type === 'idle') return chat.end(0);
  chat.face.say('A turn is under way: Ctrl-C cancels it.', 'dim');
}

function completeText(editor: EditState, chat: Chat): EditState {
  const found = complete(editor.text, commandNames(chat), (name) => commandArguments(chat, name));
  if (found === undefined) return editor;
  if (found.choices.length > 0) chat.face.say(found.choices.map((choice) => choice).join('  '), 'dim');
  return replaceText(editor, found.text);
}

function send(held: Held, chat: Chat, text: string): void {
  held.editor = beginEdit(chat.history.entries());
  void submit(chat, text)
    .catch(held.onDefect)
    .finally(() => held.stage.screen.refresh());
}

/** What has been sent meanwhile can be recalled, also while its turn is under way. */
function withHistory(editor: EditState, { history }: Chat): EditState {
  const entries = history.entries();
  const isRecalling = editor.place !== editor.history.length;
  return isRecalling || entries === editor.history
    ? editor
    : { ...editor, history: entries, place: entries.length };
}
