import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Usage } from '../../model/usage.ts';
import { readFinish, readUsage, textOrNothing } from './read-finish.ts';
import type { AiSdkFinish } from './read-finish.ts';
import type { AiSdkRecord } from './language-model.ts';

/** What one part of an AI SDK stream means, the same for all versions. */
export type ReadPart =
  /** `dropped` names what was asked for and will not be done. */
  | { readonly type: 'opened'; readonly dropped: readonly string[] }
  | { readonly type: 'response'; readonly responseId?: string; readonly servedBy?: string }
  | BlockPart
  | { readonly type: 'call-started'; readonly id: string; readonly name: string; readonly isRawText: boolean }
  | { readonly type: 'call-delta'; readonly id: string; readonly delta: string }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: string;
      readonly metadata?: AiSdkRecord;
    }
  | { readonly type: 'finish'; readonly finish: AiSdkFinish; readonly usage: Usage }
  | { readonly type: 'error'; readonly error: unknown }
  /** Something of the answer that Rerail's messages have no place for. */
  | { readonly type: 'foreign'; readonly what: string }
  /** Nothing that is kept: sources, what the provider did with its own tools. `keep-alive` is no progress either. */
  | { readonly type: 'ignored' }
  | { readonly type: 'keep-alive' }
  | { readonly type: 'malformed'; readonly reason: string };

/** A piece of a text or of a chain of thought; several may be open at once, told apart by their id. */
export interface BlockPart {
  readonly type: 'block-started' | 'block-delta' | 'block-finished';
  readonly block: 'text' | 'reasoning';
  readonly id: string;
  readonly delta: string;
  /** What the provider wants back with the block. */
  readonly metadata?: AiSdkRecord;
}

/** Reads a part as it came from outside. */
export function readPart(value: unknown): ReadPart {
  if (!isRecord(value) || typeof value['type'] !== 'string')
    return malformed('a part of the stream has no type');
  const type = value['type'];
  const block = blocks.get(type);
  if (block !== undefined) return readBlock(value, block);
  switch (type) {
    case 'stream-start':
      return { type: 'opened', dropped: readDropped(value['warnings']) };
    case 'response-metadata':
      return {
        type: 'response',
        ...defined({ responseId: textOrNothing(value['id']), servedBy: textOrNothing(value['modelId']) }),
      };
    case 'tool-input-start':
    case 'tool-input-delta':
    case 'tool-call':
      return value['providerExecuted'] === true ? { type: 'ignored' } : readCall(value, type);
    case 'finish':
      return {
        type: 'finish',
        finish: readFinish(value['finishReason']),
        usage: readUsage(value['usage'], value['providerMetadata']),
      };
    case 'error':
      return { type: 'error', error: value['error'] };
    case 'file':
    case 'reasoning-file':
      return {
        type: 'foreign',
        what: `a file (${textOrNothing(value['mediaType']) ?? 'of no stated type'})`,
      };
    case 'tool-approval-request':
      return { type: 'foreign', what: "a request to approve a call of one of the provider's own tools" };
    case 'ping':
    case 'raw':
      return { type: 'keep-alive' };
    default:
      return { type: 'ignored' };
  }
}

type BlockKind = readonly [BlockPart['type'], BlockPart['block']];

// A map, for a type is any text that a package sends: `constructor` would be found in an object.
const blocks: ReadonlyMap<string, BlockKind> = new Map([
  ['text-start', ['block-started', 'text']],
  ['text-delta', ['block-delta', 'text']],
  ['text-end', ['block-finished', 'text']],
  ['reasoning-start', ['block-started', 'reasoning']],
  ['reasoning-delta', ['block-delta', 'reasoning']],
  ['reasoning-end', ['block-finished', 'reasoning']],
]);

function readBlock(value: AiSdkRecord, [type, block]: BlockKind): ReadPart {
  const { id, delta } = value;
  if (type === 'block-delta' && typeof delta !== 'string')
    return malformed(`a ${block}-delta carries no text`);
  return {
    type,
    block,
    id: textOrNothing(id) ?? '',
    delta: typeof delta === 'string' ? delta : '',
    ...readMetadata(value),
  };
}

function readCall(value: AiSdkRecord, type: 'tool-input-start' | 'tool-input-delta' | 'tool-call'): ReadPart {
  const { id, delta, toolCallId, toolName, input } = value;
  const callId = type === 'tool-call' ? toolCallId : id;
  if (typeof callId !== 'string') return malformed(`a ${type} names no call`);
  if (type === 'tool-input-delta') {
    if (typeof delta !== 'string') return malformed('a tool-input-delta carries no text');
    return { type: 'call-delta', id: callId, delta };
  }
  if (typeof toolName !== 'string') return malformed(`a ${type} names no tool`);
  if (type === 'tool-input-start')
    return {
      type: 'call-started',
      id: callId,
      name: toolName,
      isRawText: value['inputEncoding'] === 'text',
    };
  if (typeof input !== 'string') return malformed('a tool-call carries no input');
  return { type: 'call', id: callId, name: toolName, input, ...readMetadata(value) };
}

function readMetadata({ providerMetadata }: AiSdkRecord): { readonly metadata?: AiSdkRecord } {
  return isRecord(providerMetadata) ? { metadata: providerMetadata } : {};
}

const maxWarnings = 20;

/** The second specification says `unsupported-setting` and `unsupported-tool`, the later ones `unsupported`. */
function readDropped(warnings: unknown): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  return warnings.slice(0, maxWarnings).flatMap((warning: unknown) => {
    if (!isRecord(warning)) return [];
    const { type, setting, feature, tool, details } = warning;
    const isDropped = type === 'unsupported' || type === 'unsupported-setting' || type === 'unsupported-tool';
    if (!isDropped) return [];
    const toolName = isRecord(tool) ? textOrNothing(tool['name']) : undefined;
    const what =
      textOrNothing(feature) ??
      textOrNothing(setting) ??
      (toolName && `the tool "${toolName}"`) ??
      'a setting';
    return [typeof details === 'string' && details !== '' ? `${what} (${details})` : what];
  });
}

function malformed(reason: string): ReadPart {
  return { type: 'malformed', reason };
}
