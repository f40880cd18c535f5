import type { RequestNote } from '../../model/request-note.ts';
import type { ModelRequest } from '../../model/request.ts';
import { describeOutput, toOutputSchema } from '../../model/output-schema.ts';
import type { SchemaDialect } from '../../model/schema/tool-schema.ts';

/** The schema of the answer as one provider takes it. */
export interface WireOutput {
  /** The request, with the schema in words where the provider does not take it: it would refuse the whole request. */
  readonly request: ModelRequest;
  readonly notes: readonly RequestNote[];
}

/** Writes the schema of the answer in the dialect. One that was changed is not strict any more, for strictness has rules of its own. */
export function toWireOutput(request: ModelRequest, dialect: SchemaDialect): WireOutput {
  if (request.output === undefined) return { request, notes: [] };
  const { output, ...rest } = request;
  const made = toOutputSchema(output.schema, dialect);
  if (made.type === 'schema') {
    if (made.schema === output.schema) return { request, notes: [] };
    return { request: { ...rest, output: { name: output.name, schema: made.schema } }, notes: [] };
  }
  const words = { role: 'system', content: describeOutput(output.schema) } as const;
  const first = request.messages.findIndex(({ role }) => role !== 'system');
  const messages = request.messages.toSpliced(first === -1 ? request.messages.length : first, 0, words);
  return { request: { ...rest, messages }, notes: [{ type: 'output-in-words', reason: made.reason }] };
}
