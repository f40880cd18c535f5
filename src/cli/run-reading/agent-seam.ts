import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { RunRow, Store } from '../../model/store/store.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { Agent } from '../../runtime/create-agent.ts';
import type { Given } from '../specs/command-spec.ts';
import type { Settings } from '../config/settings.ts';
import type { RunPlace } from '../config/workspace-names.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import type { CliIo } from '../start/io.ts';
import type { RequestFacts } from '../view/request-facts.ts';
import type { RunView } from '../view/run-view.ts';
import type { RunViewOptions } from '../view/view-options.ts';

/** All that the commands that resume a run need of the agent: handed in, so that tests can bring their own model and tools. */
export interface AgentSeam {
  readonly loadSettings: (flags: Given['flags'], io: CliIo) => Promise<Settings>;
  readonly openAgent: (settings: Settings) => Promise<OpenedAgent>;
  /** What is wrong where a run belongs to another workspace. */
  readonly runBelongsHere: (row: RunRow, settings: Settings) => Promise<RunPlace>;
  /** What a person should know before he answers. */
  readonly requestFacts: (
    settings: Settings,
    request: PersonRequest,
    options: { readonly signal: AbortSignal; readonly command: string },
  ) => Promise<RequestFacts>;
  readonly createRunView: (io: CliIo, options: RunViewOptions) => Promise<RunView>;
}

/** An agent over its store. */
export interface OpenedAgent {
  readonly agent: Pick<Agent<unknown>, 'name' | 'resume' | 'cancel' | 'release'>;
  readonly store: Store;
  readonly workspace?: Workspace;
  /** Waits for what is being written. */
  readonly close: () => Promise<void>;
}

/** The agent of the settings, loaded when it is needed. */
export const systemSeam: AgentSeam = {
  loadSettings: async (flags, io) =>
    (await import('../config/load-settings.ts')).loadSettings(settingFlagsOf({ flags }), io),
  openAgent: async (settings) => (await import('../start/open-agent.ts')).openAgent(settings),
  runBelongsHere: async (row, settings) =>
    (await import('../config/workspace-names.ts')).runBelongsHere(row, settings),
  requestFacts: async ({ workspace, protect, sandbox }, request, options) => {
    const { openWorkspace } = await import('../../tools/workspace/open-workspace.ts');
    const { requestFacts } = await import('../view/request-facts.ts');
    return requestFacts(await openWorkspace(workspace, { protect, sandbox }), request, options);
  },
  createRunView: async (io, options) =>
    (await import('../view/create-run-view.ts')).createRunView(io, options),
};
