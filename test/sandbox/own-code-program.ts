import { createAgent } from '../../src/runtime/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { probeSandbox } from '../../src/tools/sandbox/probe-sandbox.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import { workspaceTools } from '../../src/tools/workspace/workspace-tools.ts';

// Bundled as the package "rerail" of a workspace: what it is told to do, an agent does to the folder that it was installed in.

/** What the agent does, one call after the other. */
export interface OwnCodeOrder {
  readonly root: string;
  readonly calls: readonly OwnCodeCall[];
  readonly atMost: 'contained' | 'restricted' | 'bare';
  readonly bwrapPath?: string;
}

export interface OwnCodeCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** Runs an agent that everything is allowed to, and returns what each call was answered. */
export async function runAgent({ root, calls, atMost, bwrapPath }: OwnCodeOrder): Promise<readonly string[]> {
  const probe = { atMost, ...(bwrapPath === undefined ? {} : { bwrapPath }) };
  const workspace = await openWorkspace(root, {}, (opened) => probeSandbox(opened, probe));
  const model = scriptedModel([...calls.map((call) => ({ toolCalls: [call] })), 'Done.']);
  const agent = createAgent({
    model,
    tools: workspaceTools(workspace, { fetch: false }),
    policy: { permissions: [{ tool: '*', permission: 'allow' }] },
    limits: { maxTurns: 100, maxToolFailures: 100, maxFailedTurns: 100 },
    callbacks: { onApproval: () => true },
  });
  await agent.run('Go');
  const messages = model.calls.at(-1)?.request.messages ?? [];
  return messages.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message));
}
