import path from 'node:path';
import { defined } from '../../base/defined.ts';
import { systemClock, systemId } from '../../base/system.ts';
import type { Tool } from '../../model/tool.ts';
import { takeBack } from '../../tools/workspace/take-back.ts';
import { holdChat } from '../chat/hold-chat.ts';
import type { ChatAgent, ChatHandlers, StopName } from '../chat/chat-parts.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import { loadSettings } from '../config/load-settings.ts';
import { findStateFolders } from '../config/state-folders.ts';
import type { CliIo } from '../start/io.ts';
import { loadWorkspaceTools } from '../start/load-workspace-tools.ts';
import { openAgent } from '../start/open-agent.ts';
import { storeFlagOf } from '../run-reading/open-run-store.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { requestFacts } from '../view/request-facts.ts';

/** Talks with the agent of this folder until the person leaves. */
export const runChat: CommandRun = async (given, io) => {
  const { session } = given.flags;
  const { workspace = '.' } = settingFlagsOf(given);
  const { state } = await findStateFolders(io, path.resolve(io.folder, workspace));
  return holdChat(
    {
      open: ({ model }, handlers) => open(withModel(given, model), io, handlers),
      ...(typeof session === 'string' ? { sessionId: session } : {}),
      storeFlag: storeFlagOf(given.flags),
      historyFile: path.join(state, 'chat-history.jsonl'),
      clock: systemClock,
      newId: systemId,
      onSignal,
      exit: (exitCode) => process.exit(exitCode),
    },
    io,
  );
};

function withModel({ args, flags }: Given, model: string | undefined): Given {
  return { args, flags: model === undefined ? flags : { ...flags, model } };
}

async function open(given: Given, io: CliIo, { onApproval }: ChatHandlers): Promise<ChatAgent> {
  const settings = await loadSettings(settingFlagsOf(given), io);
  const tools: Tool[] = [];
  const opened = await openAgent(settings, {
    onApproval,
    loadTools: async (workspace, known) => {
      tools.push(...(await loadWorkspaceTools(workspace, known)));
      return tools;
    },
  });
  const { agent, store, workspace, close } = opened;
  const { command } = io;
  return {
    agent,
    store,
    settings,
    tools: [...tools, ...settings.tools],
    takeBack: (runId) => takeBack(workspace, runId),
    preview: async (request, signal) => defined(await requestFacts(workspace, request, { signal, command })),
    close,
  };
}

const stopNames = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const satisfies readonly StopName[];

function onSignal(hear: (name: StopName) => void): () => void {
  const listeners = stopNames.map((name) => ({ name, listen: () => hear(name) }));
  for (const { name, listen } of listeners) process.on(name, listen);
  return () => {
    for (const { name, listen } of listeners) process.off(name, listen);
  };
}
