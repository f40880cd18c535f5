import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { planEdits } from '../../tools/workspace/plan-edits.ts';
import type { Edit } from '../../tools/workspace/plan-edits.ts';

/**
 * What a file would hold after a call of `edit_file`, by the very code that would edit it. Nothing where the edits do not fit: then
 * the call would fail, and its arguments are all that can be shown.
 */
export function editedText(input: Readonly<Record<string, Json>>, before: string): string | undefined {
  const { path, edits } = input;
  if (typeof path !== 'string' || !Array.isArray(edits)) return undefined;
  const read = edits.map(readEdit);
  const known = read.filter((edit) => edit !== undefined);
  if (known.length < read.length) return undefined;
  try {
    return planEdits(path, before, known).text;
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    return undefined; // The tool itself reports why it cannot be made.
  }
}

function readEdit(given: unknown): Edit | undefined {
  if (!isRecord(given)) return undefined;
  const { oldText, newText, replaceAll, fromLine, toLine } = given;
  if (typeof newText !== 'string') return undefined;
  if (typeof oldText === 'string') {
    const isPlain = fromLine === undefined && toLine === undefined;
    return isPlain ? { type: 'text', oldText, newText, replaceAll: replaceAll === true } : undefined;
  }
  if (typeof fromLine !== 'number' || typeof toLine !== 'number') return undefined;
  return { type: 'lines', fromLine, toLine, newText };
}
