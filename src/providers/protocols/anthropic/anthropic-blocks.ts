import { unreachable } from '../../../base/assert.ts';
import { isRecord } from '../../../base/json.ts';
import type { Signature } from '../../../model/message.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import { jsonText } from '../json-text.ts';
import { createCallIds } from '../made-call-ids.ts';
import type { CallIds } from '../made-call-ids.ts';

/**
 * The blocks of one message while they arrive. Invariants:
 *
 * - parts come out block by block in the order in which the blocks began: only the first that is still open speaks, what
 *   belongs to later ones is held, so that interleaved blocks never run into each other;
 * - a tool call is finished only when something shows that it was not cut: a delta or a block after it, or `releaseCalls`.
 *   Anthropic closes the block of a call that ran into the token limit as if it were whole.
 */
export interface Blocks {
  readonly byIndex: Map<number, Block>;
  readonly inOrder: Block[];
  readonly makeCallId: CallIds;
  /** Position of the first block that is still open. */
  speaking: number;
  /** Calls whose block was closed and that may yet turn out to be cut. */
  awaiting: CallBlock[];
}

/** Receives the parts that may go out now. */
export type Output = StreamPart[];

type Fields = Readonly<Record<string, unknown>>;

interface Place {
  readonly position: number;
  readonly held: StreamPart[];
  isStopped: boolean;
}

interface CallBlock extends Place {
  readonly type: 'call';
  readonly callId: string;
  /** What the block began with: usually an empty object that the deltas replace. */
  readonly input: unknown;
  hasDeltas: boolean;
}

type Block =
  | (Place & { readonly type: 'text' })
  | (Place & { readonly type: 'thinking'; signature: string })
  | (Place & { readonly type: 'redacted'; readonly data: string })
  | CallBlock
  /** What the server does by itself (searches, code) and kinds yet to come: no part of our answer. */
  | (Place & { readonly type: 'ignored' });

export function createBlocks(): Blocks {
  return { byIndex: new Map(), inOrder: [], makeCallId: createCallIds(), speaking: 0, awaiting: [] };
}

/** `content_block_start`. These return what is wrong with the event, if anything is. */
export function startBlock(blocks: Blocks, event: Fields, output: Output): string | undefined {
  const index = event['index'];
  const content = event['content_block'];
  if (!Number.isSafeInteger(index)) return 'A content block starts without an index';
  if (!isRecord(content)) return 'A content block starts without its content';
  // Some servers give every block the same index: one that is closed is over.
  if (blocks.byIndex.get(Number(index))?.isStopped === false)
    return `Content block ${Number(index)} starts twice`;
  releaseCalls(blocks, output);
  const block = openBlock(content, blocks);
  blocks.byIndex.set(Number(index), block);
  blocks.inOrder.push(block);
  emitAll(blocks, { block, output }, firstParts(block, content));
  return undefined;
}

/** `content_block_delta`. */
export function continueBlock(blocks: Blocks, event: Fields, output: Output): string | undefined {
  const block = blocks.byIndex.get(event['index'] as number); // A key that is no number is simply not there.
  const delta = event['delta'];
  if (block === undefined || block.isStopped) return 'A delta belongs to no open content block';
  if (!isRecord(delta)) return 'A delta is empty';
  if (blocks.awaiting.length > 0) releaseCalls(blocks, output);
  if (block.type === 'ignored') return undefined;
  const kind = deltaKinds.get(delta['type']);
  if (kind === undefined) return undefined; // Citations, and kinds yet to come.
  if (kind.block !== block.type)
    return `A delta with "${kind.field}" stands in a block of type ${block.type}`;
  const text = delta[kind.field];
  if (typeof text !== 'string') return `A delta has no text in "${kind.field}"`;
  if (text === '') return undefined;
  const part = deltaPart(block, text, kind.field);
  if (part !== undefined) emit(blocks, { block, output }, part);
  return undefined;
}

/** `content_block_stop`. */
export function stopBlock(blocks: Blocks, event: Fields, output: Output): string | undefined {
  const block = blocks.byIndex.get(event['index'] as number); // As above.
  if (block === undefined || block.isStopped) return 'A content block stops that is not open';
  if (block.type === 'call' && !block.hasDeltas && !isNothing(block.input)) {
    // By the protocol an object; some servers send the text of one.
    const text = typeof block.input === 'string' ? block.input : jsonText(block.input);
    if (text === undefined) return 'The input of a tool call is nested too deeply';
    emit(blocks, { block, output }, { type: 'tool-call-delta', callId: block.callId, text });
  }
  const part = lastPart(block);
  if (part !== undefined) emit(blocks, { block, output }, part);
  if (block.type === 'call') blocks.awaiting.push(block);
  block.isStopped = true;
  advance(blocks, output);
  return undefined;
}

/** Finishes the calls that were waiting: they were not cut. */
export function releaseCalls(blocks: Blocks, output: Output): void {
  if (blocks.awaiting.length === 0) return;
  for (const block of blocks.awaiting) {
    emit(blocks, { block, output }, { type: 'tool-call-finished', callId: block.callId });
  }
  blocks.awaiting = [];
}

/** Lets out what is held behind blocks that were never closed. Nothing may come after it. */
export function releaseHeld(blocks: Blocks, output: Output): void {
  for (const { held, position } of blocks.inOrder) {
    if (position > blocks.speaking) for (const part of held) output.push(part);
  }
  blocks.speaking = blocks.inOrder.length;
}

interface Speaker {
  readonly block: Block;
  readonly output: Output;
}

function emit({ speaking }: Blocks, { block, output }: Speaker, part: StreamPart): void {
  if (block.position <= speaking) output.push(part);
  else block.held.push(part);
}

function emitAll(blocks: Blocks, speaker: Speaker, parts: readonly StreamPart[]): void {
  for (const part of parts) emit(blocks, speaker, part);
}

function advance(blocks: Blocks, output: Output): void {
  while (blocks.inOrder[blocks.speaking]?.isStopped === true) {
    blocks.speaking += 1;
    for (const part of blocks.inOrder[blocks.speaking]?.held ?? []) output.push(part);
  }
}

function openBlock(content: Fields, { inOrder, makeCallId }: Blocks): Block {
  const place: Place = { position: inOrder.length, held: [], isStopped: false };
  switch (content['type']) {
    case 'text':
      return { ...place, type: 'text' };
    case 'thinking':
      return { ...place, type: 'thinking', signature: textOrNone(content['signature']) };
    case 'redacted_thinking':
      return { ...place, type: 'redacted', data: textOrNone(content['data']) };
    case 'tool_use': {
      const callId = makeCallId(content['id']);
      return { ...place, type: 'call', callId, input: content['input'], hasDeltas: false };
    }
    default:
      return { ...place, type: 'ignored' };
  }
}

/** Servers that imitate the protocol put the first words into the start of the block itself. */
function firstParts(block: Block, content: Fields): readonly StreamPart[] {
  switch (block.type) {
    case 'text':
      return textOrNone(content['text']) === ''
        ? []
        : [{ type: 'text-delta', text: textOrNone(content['text']) }];
    case 'thinking': {
      const text = textOrNone(content['thinking']);
      return text === '' ? [] : [{ type: 'reasoning-delta', text }];
    }
    case 'call':
      return [{ type: 'tool-call-started', callId: block.callId, name: textOrNone(content['name']) }];
    case 'redacted':
    case 'ignored':
      return [];
    default:
      return unreachable(block);
  }
}

/** Which block a delta may stand in, and where its text is. */
const deltaKinds: ReadonlyMap<unknown, { readonly block: Block['type']; readonly field: string }> = new Map([
  ['text_delta', { block: 'text', field: 'text' }],
  ['thinking_delta', { block: 'thinking', field: 'thinking' }],
  ['signature_delta', { block: 'thinking', field: 'signature' }],
  ['input_json_delta', { block: 'call', field: 'partial_json' }],
] as const);

function deltaPart(block: Block, text: string, field: string): StreamPart | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text-delta', text };
    case 'thinking':
      if (field === 'thinking') return { type: 'reasoning-delta', text };
      block.signature += text;
      return undefined;
    case 'call':
      block.hasDeltas = true;
      return { type: 'tool-call-delta', callId: block.callId, text };
    case 'redacted':
    case 'ignored':
      return undefined;
    default:
      return unreachable(block);
  }
}

function lastPart(block: Block): StreamPart | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text-finished' };
    case 'thinking':
      if (block.signature === '') return { type: 'reasoning-finished' };
      return { type: 'reasoning-finished', signature: signed(block.signature) };
    case 'redacted':
      return { type: 'reasoning-finished', signature: signed(block.data), isRedacted: true };
    case 'call':
    case 'ignored':
      return undefined;
    default:
      return unreachable(block);
  }
}

function signed(value: string): Signature {
  return { protocol: 'anthropic', value };
}

function textOrNone(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return isRecord(value) && Object.keys(value).length === 0;
}
