import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApprovalFacts } from '../text/approval-lines.ts';
import type { Keyboard } from '../editor/keyboard.ts';
import type { NextStep } from '../run-reading/next-steps.ts';
import type { LiveScreen } from './live-screen.ts';

/** How a run is shown. Everything has a default. */
export interface RunViewOptions {
  /** Where plain lines go, for a program may have its answer on stdout. On a terminal everything goes to the terminal. */
  readonly plainTo?: 'stdout' | 'stderr';
  /** Without it nothing is said about how to resume. */
  readonly resumeCommand?: (runId: string) => string;
  /** What can be typed to answer what a run asks about a call. Without it nothing is said about it. */
  readonly answerSteps?: (request: PersonRequest, runId: string) => readonly NextStep[];
  /** Attempts at one model, of the policy: for the countdown. */
  readonly maxAttempts?: number;
  /** What the person who decides should know besides the request: what the file holds now, the label of the sandbox. */
  readonly preview?: (
    request: PersonRequest,
    signal: AbortSignal,
  ) => Promise<string | ApprovalFacts | undefined>;
  /** The text of the answer is shown elsewhere: only what happens is. */
  readonly withoutText?: boolean;
  /** Of a caller that shows more than the run, such as the chat. */
  readonly stage?: Stage;
  /** Ctrl-C at a question. Says what it means there: a denial (the default), or no answer, so that it can be asked again. */
  readonly onInterrupt?: () => 'no' | 'no-answer';
  /** Reads a line where there is no keyboard but a person who types lines: a dumb terminal. */
  readonly readLine?: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock?: Clock;
}

/** A terminal in use: what is drawn on it, and who receives its keys. */
export interface Stage {
  readonly screen: LiveScreen;
  readonly keyboard: Keyboard;
}
