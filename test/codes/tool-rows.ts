import { readFileSync } from 'node:fs';
import { createAgent, tool } from '../../src/index.ts';
import type { RunOutcome, ToolContext } from '../../src/index.ts';
import { openWorkspace, workspaceTools } from '../../src/tools/workspace/index.ts';
import type { SandboxChoice } from '../../src/tools/workspace/index.ts';
import type { Row, Stage } from './row.ts';

// What goes wrong in tools: in functions, files and processes. The model that calls them answers over a socket.

const input = { type: 'object', properties: { cents: { type: 'number' } } } as const;
const policy = { retry: 'none', salvage: false, inDoubt: 'tell' } as const;

/** A tool of the user whose failure ends the run. */
async function calling(
  stage: Stage,
  execute: (stage: Stage, context: ToolContext) => unknown,
  given: Readonly<Record<string, string | number>> = {},
): Promise<RunOutcome> {
  const work = tool({
    name: 'work',
    description: 'Works.',
    input,
    onError: 'abort',
    timeoutMs: 50,
    execute: (_input, context) => execute(stage, context),
  });
  const model = await stage.model({
    answers: [{ toolCalls: [{ name: 'work', arguments: given }] }, 'Done.'],
  });
  return createAgent({ model, tools: [work], policy }).run('Do it');
}

interface WorkspaceCall {
  readonly name: string;
  readonly given: Readonly<Record<string, string>>;
  readonly sandbox?: SandboxChoice;
}

/** A tool of a workspace in a real folder. */
async function inWorkspace(stage: Stage, { name, given, sandbox = {} }: WorkspaceCall): Promise<RunOutcome> {
  const workspace = await openWorkspace(stage.folder, { sandbox });
  const model = await stage.model({ answers: [{ toolCalls: [{ name, arguments: given }] }, 'Sorry.'] });
  return createAgent({
    model,
    tools: workspaceTools(workspace),
    policy: { ...policy, permissions: [{ tool: name, permission: 'allow' }] },
  }).run('Do it');
}

export const toolRows = {
  TOOL_EXECUTION_ERROR: {
    origin: 'tool',
    ends: (stage) =>
      calling(stage, () => {
        throw new Error('the printer is on fire');
      }),
  },
  TOOL_NOT_FOUND: {
    origin: 'tool',
    ends: async (stage) => {
      const model = await stage.model({ answers: [{ toolCalls: [{ name: 'refnud' }] }, 'Sorry.'] });
      return createAgent({ model, policy }).run('Do it');
    },
  },
  UNKNOWN_OUTCOME: {
    origin: 'tool',
    ends: (stage) => calling(stage, () => new Promise(() => undefined)),
  },
  VALIDATION_ERROR: { origin: 'tool', ends: (stage) => calling(stage, () => 'paid', { cents: 'many' }) },
  SERIALIZATION_ERROR: { origin: 'tool', ends: (stage) => calling(stage, () => () => 'paid') },
  IO_ERROR: { origin: 'tool', ends: (stage) => calling(stage, ({ folder }) => readFileSync(folder, 'utf8')) },
  NOT_FOUND: {
    origin: 'tool',
    ends: (stage) => inWorkspace(stage, { name: 'read_file', given: { path: 'no-such-file.txt' } }),
  },
  PATH_OUTSIDE_WORKSPACE: {
    origin: 'tool',
    ends: (stage) => inWorkspace(stage, { name: 'read_file', given: { path: '../outside.txt' } }),
  },
  SANDBOX_SETUP_FAILED: {
    origin: 'sandbox',
    ends: (stage) => {
      const sandbox = { min: 'contained', off: 'this test' } as const;
      return inWorkspace(stage, { name: 'shell', given: { command: 'true' }, sandbox });
    },
  },
  SANDBOX_EXECUTION_FAILED: {
    origin: 'sandbox',
    ends: (stage) => inWorkspace(stage, { name: 'shell', given: { command: 'echo \u0000' } }),
  },
} as const satisfies Readonly<Record<string, Row>>;
