import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import type { Store } from '../../model/store/store.ts';
import type { Tool } from '../../model/tool.ts';
import type { Agent } from '../../runtime/create-agent.ts';
import type { TakenBack } from '../../tools/workspace/take-back.ts';
import type { ApprovalFacts } from '../text/approval-lines.ts';
import type { Settings } from '../config/settings.ts';

/** What a chat is made of. Handed in, so that a test can do without a configuration. */
export interface ChatParts {
  /** Makes the agent, with another model first where one is named. Rejects with what is wrong with the configuration. */
  readonly open: (wanted: { readonly model?: string }, handlers: ChatHandlers) => Promise<ChatAgent>;
  /** Continues this conversation; a new one where absent. */
  readonly sessionId?: string;
  /** What to add to a command so that it finds the same store: ` --store runs.db`, or nothing. */
  readonly storeFlag: string;
  /** Where typed lines are kept; nowhere where absent. */
  readonly historyFile?: string;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Listens for what ends a process from outside. */
  readonly onSignal: (hear: (name: StopName) => void) => Cancel;
  /** Ends the process at once, whatever is under way. */
  readonly exit: (exitCode: number) => void;
}

/** `SIGHUP`: the terminal is gone. */
export type StopName = 'SIGHUP' | 'SIGTERM' | 'SIGINT';

export interface ChatHandlers {
  readonly onApproval: (
    request: PersonRequest,
    options: { readonly signal: AbortSignal },
  ) => Promise<RunAnswer | undefined>;
}

/** An agent with what the chat shows of it. */
export interface ChatAgent {
  readonly agent: Agent<unknown>;
  readonly store: Store;
  readonly settings: Pick<
    Settings,
    'models' | 'modelLine' | 'notices' | 'commandFiles' | 'commandFolders' | 'retry'
  >;
  readonly tools: readonly Pick<Tool, 'name' | 'description' | 'effect' | 'permission'>[];
  /** Undoes the changes of files by one run. */
  readonly takeBack: (runId: string) => Promise<readonly TakenBack[]>;
  /** What a person should know before approving a call. */
  readonly preview?: (
    request: PersonRequest,
    signal: AbortSignal,
  ) => Promise<string | ApprovalFacts | undefined>;
  readonly close: () => Promise<void>;
}
