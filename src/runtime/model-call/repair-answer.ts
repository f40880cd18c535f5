import type { PreparedCall } from '../../agent/tools/tool-call.ts';
import type { AssistantPart, ToolCallPart } from '../../model/message.ts';
import type { PartialResult } from '../../model/model.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';
import { aliasOf } from './distinct-call-ids.ts';
import { repairArguments } from './repair-arguments.ts';
import type { ToolRegistry } from '../tool-call/tool-registry.ts';

/**
 * Whether the calls of a refused answer can be read after all. Only of an answer whose end was announced, only where every
 * unreadable call has exactly one reading, and never for a tool that must not be called by mistake.
 */
export function canBeRead({ finish, toolCalls }: PartialResult, registry: ToolRegistry): boolean {
  if (toolCalls.length === 0 || (finish?.reason !== 'tool-calls' && finish?.reason !== 'stop')) return false;
  return toolCalls.every((call) => isReadable(call, registry));
}

function isReadable({ name, argumentsText }: ToolCallPart, registry: ToolRegistry): boolean {
  if (name === '') return false;
  const read = parseToolArguments(argumentsText);
  // One that cannot be read exactly is refused by itself, whatever else the answer holds.
  if (read.type !== 'invalid' || read.isInexact === true) return true;
  const tool = registry.get(name);
  if (tool === undefined || (tool.effect === 'once' && tool.permission !== 'ask')) return false;
  return repairArguments(argumentsText) !== undefined;
}

/**
 * The answer as it was read: providers refuse a conversation in which arguments are not JSON, in which two calls of one
 * answer have the same id, or in which a tool has a name that no tool can have.
 */
export function writeAsRead<Result extends PartialResult>(
  result: Result,
  prepared: readonly PreparedCall[],
): Result {
  let written: Map<AssistantPart, ToolCallPart> | undefined;
  result.toolCalls.forEach((call, index) => {
    const { callId, name } = prepared[index] ?? call;
    const argumentsText = isWritten(prepared[index]) ? call.argumentsText : asJsonText(call.argumentsText);
    const isSame = callId === call.callId && name === call.name;
    if (isSame && argumentsText === call.argumentsText) return;
    written ??= new Map();
    const alias = callId === call.callId ? {} : { providerCallId: aliasOf(call) };
    written.set(call, { ...call, callId, name, argumentsText, ...alias });
  });
  if (written === undefined) return result;
  const swap = written;
  return {
    ...result,
    content: result.content.map((part) => swap.get(part) ?? part),
    toolCalls: result.toolCalls.map((call) => swap.get(call) ?? call),
  };
}

/** What was read without a repair is JSON already. */
function isWritten(call: PreparedCall | undefined): boolean {
  return call?.type === 'ready' && call.isRepaired !== true;
}

function asJsonText(text: string): string {
  if (parseToolArguments(text).type !== 'invalid') return text;
  const repaired = repairArguments(text);
  return repaired === undefined ? text : JSON.stringify(repaired.value);
}
