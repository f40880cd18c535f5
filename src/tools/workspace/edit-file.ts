import type { Tool, ToolContext } from '../../model/tool.ts';
import { tool } from '../tool.ts';
import { useInside } from './confine.ts';
import { fileResource } from './file-resource.ts';
import { doneBefore, isSeen, noteSeen, refuseUnseen, rememberDone } from './memory.ts';
import { looksEdited, planEdits } from './plan-edits.ts';
import type { Edit } from './plan-edits.ts';
import { readContent, toBytes } from './text-file.ts';
import { showPath, workspaceError } from './workspace-error.ts';
import type { Workspace } from './workspace.ts';
import { replaceTarget, withTarget } from './write-inside.ts';
import type { WriteTarget } from './write-inside.ts';

const maxEdits = 100;

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'From the root of the workspace, such as src/app.ts' },
    edits: {
      type: 'array',
      minItems: 1,
      maxItems: maxEdits,
      description: 'Each with oldText and newText, or with fromLine, toLine and newText',
      items: {
        type: 'object',
        properties: {
          oldText: {
            type: 'string',
            description: 'The exact text to replace, blanks and line breaks included',
          },
          newText: { type: 'string', description: 'What comes in its place; empty to remove it' },
          replaceAll: { type: 'boolean', description: 'Replace every place and not just the only one' },
          fromLine: {
            type: 'integer',
            minimum: 1,
            description: 'The first line to replace, as read_file numbers it',
          },
          toLine: {
            type: 'integer',
            minimum: 0,
            description: 'The last line to replace; fromLine - 1 to insert before fromLine',
          },
        },
        required: ['newText'],
        additionalProperties: false,
      },
    },
  },
  required: ['path', 'edits'],
  additionalProperties: false,
} as const;

/** A tool that changes parts of one file, all of them or none. */
export function editFileTool(workspace: Workspace): Tool {
  return tool({
    name: 'edit_file',
    description:
      'Changes parts of a text file that you have read with read_file. An edit names the exact oldText, which must occur once unless replaceAll is set, or a range of lines. All edits refer to the file as it is now and may not overlap; either all are made or none. Line ends of the file are kept.',
    input,
    effect: 'idempotent',
    permission: 'ask',
    resource: ({ path }) => fileResource(workspace, path),
    execute: (given, context) => editFile(workspace, given as unknown as EditInput, context), // As the schema says.
  });
}

interface EditInput {
  readonly path: string;
  readonly edits: readonly GivenEdit[];
}

interface GivenEdit {
  readonly newText: string;
  readonly oldText?: string;
  readonly replaceAll?: boolean;
  readonly fromLine?: number;
  readonly toLine?: number;
}

async function editFile(workspace: Workspace, given: EditInput, context: EditContext): Promise<string> {
  const { path } = given;
  const { signal } = context;
  const edits = given.edits.map(readEdit);
  return withTarget(workspace, { path, signal, createFolders: false }, async (target) => {
    const { old } = target;
    // The one who opens it knows how to say what is not there, and what may have been meant.
    if (old === undefined)
      return useInside(workspace, { path, kind: 'file' }, () => Promise.reject(vanished(path)));
    const done = doneBefore(workspace, context.idempotencyKey);
    if (done?.path === target.path && done.afterHash === old.hash) {
      noteSeen(workspace, context, { path: target.path, contentHash: old.hash });
      return done.result;
    }
    return editText(workspace, { ...target, old }, { ...context, edits });
  });
}

type EditContext = Pick<ToolContext, 'runId' | 'signal' | 'idempotencyKey' | 'remember' | 'recall'>;

async function editText(
  workspace: Workspace,
  target: WriteTarget & { readonly old: NonNullable<WriteTarget['old']> },
  context: EditContext & { readonly edits: readonly Edit[] },
): Promise<string> {
  const { path, old } = target;
  const { edits, runId, signal, idempotencyKey } = context;
  const file = { path, contentHash: old.hash };
  const content = readContent(old.bytes);
  if (content.type === 'binary') throw unreadable(path, `it is ${content.says}`);
  if (content.isDamaged)
    throw unreadable(path, 'it holds bytes that are not UTF-8, which an edit would destroy');
  // Somebody made these very edits before, most likely this call in a process that has died since.
  if (!isSeen(workspace, context, file) && looksEdited(path, content.text, edits)) {
    noteSeen(workspace, context, file);
    return `${showPath(path)} looks as if these edits had been made before; nothing was changed. Read it to be sure.`;
  }
  refuseUnseen(workspace, context, file);
  const planned = planEdits(path, content.text, edits);
  const afterHash = await replaceTarget(workspace, target, {
    bytes: toBytes(planned.text, content),
    runId,
    signal,
  });
  noteSeen(workspace, context, { path, contentHash: afterHash });
  const places = `${planned.places} place${planned.places === 1 ? '' : 's'}`;
  const result = `Changed ${places} in ${showPath(path)}. Line numbers after them may have shifted.`;
  rememberDone(workspace, idempotencyKey, { path, afterHash, result });
  return result;
}

/** An edit as a model wrote it, which must be of one kind. */
function readEdit({ oldText, newText, replaceAll, fromLine, toLine }: GivenEdit, index: number): Edit {
  if (oldText !== undefined && fromLine === undefined && toLine === undefined) {
    return { type: 'text', oldText, newText, replaceAll: replaceAll === true };
  }
  if (oldText === undefined && fromLine !== undefined && toLine !== undefined) {
    return { type: 'lines', fromLine, toLine, newText };
  }
  throw workspaceError(
    'VALIDATION_ERROR',
    `edits[${index}] must have either oldText and newText, or fromLine, toLine and newText`,
  );
}

function unreadable(path: string, says: string): Error {
  return workspaceError('VALIDATION_ERROR', `Cannot edit ${showPath(path)}: ${says}`);
}

function vanished(path: string): Error {
  return workspaceError(
    'NOT_FOUND',
    `no file ${showPath(path)}: it was not there a moment ago; read it first`,
  );
}
