import { statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import type { Store } from '../../model/store/store.ts';
import type { Schema, Tool } from '../../model/tool.ts';
import type { AgentOptions } from '../../runtime/agent-options.ts';
import type { AgentCallbacks } from '../../runtime/watch/callbacks.ts';
import { createAgent } from '../../runtime/create-agent.ts';
import type { Agent } from '../../runtime/create-agent.ts';
import { toStorageError } from '../../storage/sqlite/storage-errors.ts';
import { openWorkspace } from '../../tools/workspace/open-workspace.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { Settings } from '../config/settings.ts';
import { agentNameOf, noteWorkspace } from '../config/workspace-names.ts';
import { loadWorkspaceTools } from './load-workspace-tools.ts';
import { storeAt } from './open-store.ts';
import { isAddress } from './store-place.ts';
import { quote, usageError } from '../text/usage-error.ts';

export interface OpenAgentOptions {
  readonly onEvent?: AgentCallbacks['onEvent'];
  /** Without it a call that needs approval suspends the run. */
  readonly onApproval?: AgentCallbacks['onApproval'];
  /** Added to the instructions. */
  readonly extraInstructions?: string;
  /** Makes the answer structured. */
  readonly outputSchema?: Schema;
  readonly clock?: Clock;
  /** The tools of the workspace; our own by default. */
  readonly loadTools?: (workspace: Workspace, settings: Settings) => Promise<readonly Tool[]>;
}

/** An agent at work in a folder, with what it stands on. */
export interface OpenedAgent {
  readonly agent: Agent<unknown>;
  readonly store: Store;
  readonly workspace: Workspace;
  readonly settings: Settings;
  /** Writes what is being written, and closes the store. */
  readonly close: () => Promise<void>;
}

/** Makes the agent of a workspace. Nothing is sent and nothing runs yet; throws a `ConfigError` for what can never work. */
export async function openAgent(settings: Settings, options: OpenAgentOptions = {}): Promise<OpenedAgent> {
  const { loadTools = loadWorkspaceTools, clock } = options;
  const { protect, sandbox } = settings;
  refuseFolder(settings.storeFile);
  await loadAhead();
  const workspace = await openWorkspace(settings.workspace, { protect, sandbox });
  const tools = [...(await loadTools(workspace, settings)), ...settings.tools];
  const store = storeAt(settings.storeFile, { clock, create: true });
  const agent = createAgent(agentOptions(settings, { ...options, tools, store }));
  try {
    await noteWorkspace(settings);
  } catch (error) {
    throw toStorageError(error, settings.storeFile);
  }
  return { agent, store, workspace, settings, close: () => store.close() };
}

/**
 * Everything of ours that is otherwise loaded when it is first needed. Rerail may be installed in the workspace, and a command that
 * nothing holds may have written over its files by then: what is loaded now is what was installed.
 */
async function loadAhead(): Promise<void> {
  await Promise.all([
    import('../../tools/sandbox/probe-sandbox.ts'),
    import('../text/report-failure.ts'),
    import('../../errors/failure.ts'),
    import('../../errors/rerail-error.ts'),
    import('../config/load-settings.ts'),
    import('../view/create-run-view.ts'),
    import('../view/request-facts.ts'),
  ]);
}

function refuseFolder(storeFile: string): void {
  if (isAddress(storeFile) || statSync(storeFile, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw usageError({
    message: `The store ${quote(storeFile)} is a folder`,
    hint: `Give a file: --store ${quote(path.join(storeFile, 'runs.db'))}`,
  });
}

interface Parts extends OpenAgentOptions {
  readonly tools: readonly Tool[];
  readonly store: Store;
}

function agentOptions(settings: Settings, parts: Parts): AgentOptions<Schema> {
  const { tools, store, onEvent, onApproval, extraInstructions, outputSchema, clock } = parts;
  const { models, instructions, permissions, limits, retry, explain } = settings;
  return defined({
    name: agentNameOf(settings.workspace),
    model: models.map(({ model }) => model),
    instructions: extraInstructions === undefined ? instructions : `${instructions}\n\n${extraInstructions}`,
    tools,
    output: outputSchema,
    policy: defined({ permissions, retry }),
    limits,
    explain,
    callbacks: defined({ onEvent, onApproval }),
    store,
    clock,
  });
}
