import type { PersonRequest } from '../../agent/run-outcome.ts';
import { isRecord } from '../../base/json.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { readBounded, useInside } from '../../tools/workspace/confine.ts';
import { hashBytes } from '../../tools/workspace/memory.ts';
import { readContent } from '../../tools/workspace/text-file.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { ApprovalFacts } from '../text/approval-lines.ts';

/** More than that does not help the person who decides. */
const maxPreviewBytes = 1024 * 1024;

/** What a person is shown, with the very file whose text it is. */
export interface RequestFacts extends ApprovalFacts {
  readonly shownFile?: ShownFile | undefined;
}

/** A file as a person has seen it. */
export interface ShownFile {
  /** From the root of the workspace. */
  readonly path: string;
  readonly contentHash: string;
}

/** What a person should know before approving a call in a workspace: the content of the file, the sandbox of a command. */
export async function requestFacts(
  workspace: Workspace,
  request: PersonRequest,
  { signal, command }: { readonly signal: AbortSignal; readonly command: string },
): Promise<RequestFacts> {
  if (request.type === 'mend' || request.type === 'question' || !isRecord(request.input)) return { command };
  const { path } = request.input;
  const sandboxLabel = request.tool === 'shell' ? await labelOf(workspace) : undefined;
  const changes = request.tool === 'write_file' || request.tool === 'edit_file';
  const shown = changes && typeof path === 'string' ? await readShown(workspace, path, signal) : {};
  return { command, sandboxLabel, ...shown };
}

async function labelOf(workspace: Workspace): Promise<string> {
  try {
    return (await workspace.sandbox()).label;
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    return `none: ${error.failure.message}`;
  }
}

/** Nothing where there is no such file; an empty text where there is one that cannot be shown: it is not new. */
async function readShown(
  workspace: Workspace,
  path: string,
  signal: AbortSignal,
): Promise<Pick<RequestFacts, 'preview' | 'shownFile'>> {
  try {
    return await useInside(workspace, { path, kind: 'file' }, async (file) => {
      const { bytes, isWhole } = await readBounded(file, maxPreviewBytes, signal);
      const content = readContent(bytes);
      if (!isWhole || content.type !== 'text') return { preview: '' };
      const shownFile = { path: file.path, contentHash: hashBytes(bytes) };
      return content.isDamaged ? { preview: content.text } : { preview: content.text, shownFile };
    });
  } catch (error) {
    if (!RerailError.isInstance(error) && !signal.aborted) throw error;
    return RerailError.isInstance(error) && error.failure.code === 'NOT_FOUND' ? {} : { preview: '' };
  }
}
