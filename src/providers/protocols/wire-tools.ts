import type { WireRequest } from '../protocol.ts';
import type { RequestNote } from '../../model/request-note.ts';
import type { JsonSchema, ModelRequest, ToolChoice, ToolDefinition } from '../../model/request.ts';
import { toWireSchema } from '../../model/schema/tool-schema.ts';
import type { SchemaDialect } from '../../model/schema/tool-schema.ts';

/** The tools of a request as one provider takes them, and which of them it cannot be told of. */
export interface WireTools {
  readonly tools: readonly (ToolDefinition & { readonly parameters: JsonSchema })[];
  /** Absent where the choice is of a tool that is left out, or of one among none. */
  readonly toolChoice: ToolChoice | undefined;
  /** Of the request; empty where all tools are offered. */
  readonly noted: Pick<WireRequest, 'notes'>;
}

/** Writes the tools in the dialect, with the notes that there are. A tool that cannot be expressed is named and left out: it would break the whole request. */
export function toWireTools(
  { tools = [], toolChoice }: ModelRequest,
  dialect: SchemaDialect,
  noted: readonly RequestNote[] = [],
): WireTools {
  const written: ToolDefinition[] = [];
  const notes: RequestNote[] = [...noted];
  for (const tool of tools) {
    const made = toWireSchema(tool.parameters, dialect);
    const reason = made.type === 'schema' ? findBadName(tool, dialect) : made.reason;
    if (made.type === 'schema' && reason === undefined) written.push({ ...tool, parameters: made.schema });
    else notes.push({ type: 'tool-left-out', tool: tool.name, reason: reason ?? '' });
  }
  return {
    tools: written,
    toolChoice: choiceAmong(toolChoice, written),
    noted: notes.length === 0 ? {} : { notes },
  };
}

/** Gemini wants a letter or an underscore first. */
function findBadName({ name }: ToolDefinition, dialect: SchemaDialect): string | undefined {
  if (dialect !== 'gemini' || /^[A-Za-z_]/.test(name)) return undefined;
  return 'its name does not begin with a letter or an underscore';
}

function choiceAmong(
  choice: ToolChoice | undefined,
  tools: readonly ToolDefinition[],
): ToolChoice | undefined {
  if (typeof choice === 'object') return tools.some(({ name }) => name === choice.name) ? choice : undefined;
  return choice === 'required' && tools.length === 0 ? undefined : choice;
}
