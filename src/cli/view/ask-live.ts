import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import { beginEdit, edit } from '../editor/edit.ts';
import type { EditState } from '../editor/edit.ts';
import { editorLines } from '../editor/editor-lines.ts';
import type { Key } from '../editor/key.ts';
import { questionOf } from './answer-words.ts';
import type { Question } from './answer-words.ts';
import { partOrder } from './live-screen.ts';
import type { LiveScreen } from './live-screen.ts';
import type { Stage } from './view-options.ts';
import type { ViewPaint } from './view-paint.ts';
import { wrapSpans } from './wrap-spans.ts';

export interface AskOptions {
  readonly request: PersonRequest;
  readonly signal: AbortSignal;
  readonly paint: ViewPaint['paint'];
  /** Ctrl-C: a no, or no answer. */
  readonly onInterrupt: () => 'no' | 'no-answer';
}

/** Asks at the bottom of the screen. An answer is typed and sent by Enter, so that no key meant for something else decides. */
export function askLive(stage: Stage, options: AskOptions): Promise<RunAnswer | undefined> {
  const { request, signal, onInterrupt } = options;
  if (signal.aborted) return Promise.resolve(undefined);
  const asking: Asking = { question: questionOf(request), state: beginEdit() };
  return new Promise((resolve) => {
    const removePart = stage.screen.addPart(
      (size) => drawQuestion(asking, size, options.paint),
      partOrder.question,
    );
    const end = (answer: RunAnswer | undefined): void => {
      handBack();
      removePart();
      signal.removeEventListener('abort', abort);
      resolve(answer);
    };
    const abort = (): void => end(undefined);
    const handBack = stage.keyboard.take((key) => {
      const isUnanswered = key.type === 'interrupt' && onInterrupt() === 'no-answer';
      const heard = isUnanswered ? { answer: undefined } : hearKey(asking, key);
      if (heard === undefined) return stage.screen.refresh();
      end(heard.answer);
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}

interface Asking {
  readonly question: Question;
  state: EditState;
}

function hearKey(asking: Asking, key: Key): { readonly answer: RunAnswer | undefined } | undefined {
  const { question } = asking;
  if (key.type === 'interrupt' || key.type === 'escape' || key.type === 'end-of-input')
    return { answer: question.refusal };
  const next = edit(asking.state, key);
  if (!next.isSubmitted) {
    asking.state = next;
    return undefined;
  }
  const typed = asking.state.text.trim();
  asking.state = beginEdit();
  return question.read(typed);
}

type Size = Parameters<Parameters<LiveScreen['addPart']>[0]>[0];

function drawQuestion(
  { question, state }: Asking,
  { columns, rows }: Size,
  paint: ViewPaint['paint'],
): ReturnType<Parameters<LiveScreen['addPart']>[0]> {
  const choices = ['', ...wrapSpans([{ text: question.choices, look: 'dim' }], { columns, paint })];
  const editor = editorLines(state, {
    columns,
    maxRows: Math.max(1, Math.min(4, rows - choices.length - 1)),
    prompt: question.prompt,
    paintPrompt: (prompt) => paint('bold', prompt),
  });
  const cursor = editor.cursor ?? { row: 0, column: 0 };
  return { lines: [...choices, ...editor.lines], cursor: { ...cursor, row: cursor.row + choices.length } };
}
