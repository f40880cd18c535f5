import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { InputHistory } from '../editor/history-file.ts';
import type { CliIo } from '../start/io.ts';
import type { RunView } from '../view/run-view.ts';
import type { Look } from '../view/view-paint.ts';
import type { ChatAgent, ChatHandlers, ChatParts } from './chat-parts.ts';
import type { UserCommand } from './user-commands.ts';

/** A conversation at the terminal. It changes in place. */
export interface Chat {
  readonly parts: ChatParts;
  readonly io: CliIo;
  readonly face: ChatFace;
  readonly view: RunView;
  readonly history: InputHistory;
  readonly ask: ChatHandlers['onApproval'];
  agent: ChatAgent;
  sessionId: string;
  commands: readonly UserCommand[];
  state: ChatState;
  /** What can be taken back, the oldest first. */
  readonly exchanges: Exchange[];
  /** Messages that were added to the turn under way and that the model has not read yet. */
  readonly added: string[];
  last: { readonly runId: string; readonly outcome: RunOutcome } | undefined;
  /** When Ctrl-C was last pressed. */
  interruptedAtMs: number;
  /** The history could not be written, and that was said. */
  isHistoryLost: boolean;
  /** Ends the conversation. */
  readonly end: (exitCode: number) => void;
}

export type ChatState =
  | { readonly type: 'idle' }
  /** A command of the chat itself is under way. */
  | { readonly type: 'busy' }
  | { readonly type: 'running'; readonly runId: string; readonly controller: AbortController }
  | { readonly type: 'ended' };

/** Where a chat says something. */
export interface ChatFace {
  /** Lines from us, wrapped. Text from outside in them must be safe to show. */
  readonly say: (text: string, look?: Look) => void;
  /** What the person has sent off. */
  readonly echo: (text: string) => void;
  readonly refresh: () => void;
  /** Gives the terminal back as it was. */
  readonly close: () => void;
}

/** One message and what came of it. */
export interface Exchange {
  readonly runId: string;
  readonly text: string;
  /** Messages that it has added to the session. */
  readonly messages: number;
  /** The agent that knows which files it changed. */
  readonly agent: ChatAgent;
}
