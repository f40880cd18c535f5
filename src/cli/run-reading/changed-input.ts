import { callWarning } from '../../agent/approval/call-warning.ts';
import { isSameJson } from '../../agent/approval/person-answer.ts';
import type { CallRequest } from '../../agent/run-outcome.ts';
import { defined } from '../../base/defined.ts';
import type { Json } from '../../base/json.ts';
import { exactJson } from '../../base/printable.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';
import type { Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { layoutRows } from '../text/layout.ts';
import type { Screen } from '../text/layout.ts';
import { readInput } from '../classify/read-input.ts';
import { usageError } from '../text/usage-error.ts';
import { flagText } from './given-text.ts';

type Arguments = Readonly<Record<string, Json>>;

/** The arguments that a person typed in the place of the model's, or nothing where there are none or they are the same. */
export async function readChangedInput(
  flags: Given['flags'],
  request: CallRequest,
  io: CliIo,
): Promise<Arguments | undefined> {
  const typed = flagText(flags, 'input');
  if (typed === undefined) return undefined;
  const text = typed.startsWith('@') ? await readNamed(typed.slice(1), io) : typed;
  const read = parseToolArguments(text);
  if (read.type === 'parsed') return isSameJson(read.value, request.input) ? undefined : read.value;
  const problem = read.type === 'empty' ? 'there are none' : read.reason;
  throw usageError({ message: `--input must be the arguments of the call: ${problem}`, hint });
}

const hint = `Give a JSON object, such as --input '{"cents": 500}', or the name of a file that holds one: --input @arguments.json`;

/** `@-` is the standard input. */
function readNamed(path: string, io: CliIo): Promise<string> {
  return readInput(path === '-' ? { type: 'stdin' } : { type: 'file', path }, io, { hint });
}

/** The request with what would run in the place of what the model asked for: that is what a person decides about. */
export function changedRequest(request: CallRequest, input: Json): CallRequest {
  const { type, id, tool, hash, why, provenance } = request;
  const about = { id, tool, hash, why, input, ...defined({ provenance, warning: callWarning(tool, input) }) };
  return type === 'approval' ? { type, ...about, expiresAt: request.expiresAt } : { type, ...about };
}

/** What the model had asked for, to be shown beside it. */
export function askedLines({ input }: CallRequest, screen: Screen): readonly string[] {
  const note = { label: 'changed', text: `by you. The model asked for ${exactJson(input)}` };
  return layoutRows([note], { ...screen, indent: 2, labelWidth: 10 });
}
