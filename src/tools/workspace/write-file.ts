import type { Tool, ToolContext } from '../../model/tool.ts';
import { tool } from '../tool.ts';
import { hashBytes, noteSeen, refuseUnseen } from './memory.ts';
import { splitLines } from './text-file.ts';
import { fileResource } from './file-resource.ts';
import { showPath } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';
import { replaceTarget, withTarget } from './write-inside.ts';

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'From the root of the workspace, such as src/app.ts' },
    content: { type: 'string', description: 'The whole text of the file' },
  },
  required: ['path', 'content'],
  additionalProperties: false,
} as const;

/** A tool that writes one whole file, a new one or one that has been read. */
export function writeFileTool(workspace: Workspace): Tool {
  return tool({
    name: 'write_file',
    description:
      'Writes a whole text file of the workspace: a new one, with the folders that it needs, or one that you have read with read_file and that has not changed since. To change a part of a file use edit_file. Configuration, CI files and .git are protected.',
    input,
    effect: 'idempotent',
    permission: 'ask',
    resource: ({ path }) => fileResource(workspace, path),
    execute: (given, context) => writeWhole(workspace, given as unknown as WriteInput, context), // As the schema says.
  });
}

interface WriteInput {
  readonly path: string;
  readonly content: string;
}

async function writeWhole(
  workspace: Workspace,
  { path, content }: WriteInput,
  context: Pick<ToolContext, 'runId' | 'signal' | 'remember' | 'recall'>,
): Promise<string> {
  const { runId, signal } = context;
  const bytes = Buffer.from(content);
  return withTarget(workspace, { path, signal, createFolders: true }, async (target) => {
    const lines = splitLines(content).length;
    const size = `${lines} line${lines === 1 ? '' : 's'}, ${bytes.length} bytes`;
    const written = { path: target.path, contentHash: hashBytes(bytes) };
    // It was written before and the answer was lost, or it was the same all along: either way there is nothing to destroy.
    if (target.old?.hash === written.contentHash) {
      noteSeen(workspace, context, written);
      return `${showPath(target.path)} already has this content (${size}).`;
    }
    if (target.old !== undefined)
      refuseUnseen(workspace, context, { path: target.path, contentHash: target.old.hash });
    await replaceTarget(workspace, target, { bytes, runId, signal });
    noteSeen(workspace, context, written);
    return `${target.old === undefined ? 'Created' : 'Replaced'} ${showPath(target.path)} (${size}).`;
  });
}
