import { isRecord } from '../../../base/json.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { malformed } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';
import { indexOf, itemOf, mismatch } from './openai-responses-state.ts';
import type { Item, ResponsesState } from './openai-responses-state.ts';

interface TextEvent {
  readonly content_index?: unknown;
  readonly delta?: unknown;
}

interface ContentPart {
  readonly text?: unknown;
  readonly refusal?: unknown;
}

/** Reads a piece of the answer. A refusal is an answer too, but the response then ends as refused. */
export function readTextDelta(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  const { content_index: contentIndex, delta: text }: TextEvent = event;
  if (typeof text !== 'string') return malformed('"delta" must be text', event);
  if (text === '') return undefined;
  const item = itemOf(state, event);
  const index = indexOf(contentIndex);
  const block = item.texts.get(index);
  if (block === undefined) {
    addBlock(state, item, { index, text });
    return undefined;
  }
  // Two texts in turns would become one that nobody wrote.
  if (block !== state.latestText) return malformed('The text goes on after another has begun', event);
  block.text += text;
  state.parts.push({ type: 'text-delta', text });
  return undefined;
}

/** The same for a refusal. */
export function readRefusalDelta(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  state.isRefused = true;
  return readTextDelta(state, event);
}

/** Reads the end of one text or refusal. */
export function readTextDone(state: ResponsesState, event: Fields): DecodeProblem | undefined {
  return settleText(state, itemOf(state, event), { index: indexOf(event['content_index']), content: event });
}

/** Reads the end of a whole message. */
export function finishMessage(state: ResponsesState, item: Item, whole: Fields): DecodeProblem | undefined {
  const contents: readonly unknown[] = Array.isArray(whole['content']) ? whole['content'] : [];
  for (const [index, content] of contents.entries()) {
    const problem = isRecord(content) ? settleText(state, item, { index, content }) : undefined;
    if (problem !== undefined) return problem;
  }
  state.latestText = undefined;
  if (item.texts.size > 0) state.parts.push({ type: 'text-finished' });
  return undefined;
}

interface WholeText {
  readonly index: number;
  readonly content: Fields;
}

/** The whole is taken where nothing was streamed, and otherwise must be the same. Some servers leave it empty. */
function settleText(
  state: ResponsesState,
  item: Item,
  { index, content }: WholeText,
): DecodeProblem | undefined {
  const { text, refusal }: ContentPart = content;
  const isRefusal = typeof refusal === 'string' && refusal !== '';
  const whole = isRefusal ? refusal : text;
  if (isRefusal) state.isRefused = true;
  if (typeof whole !== 'string' || whole === '') return undefined;
  const block = item.texts.get(index);
  if (block !== undefined) return block.text === whole ? undefined : mismatch('text', content);
  addBlock(state, item, { index, text: whole });
  return undefined;
}

function addBlock(
  state: ResponsesState,
  item: Item,
  { index, text }: { readonly index: number; readonly text: string },
): void {
  const block = { text };
  item.texts.set(index, block);
  state.latestText = block;
  state.parts.push({ type: 'text-delta', text });
}
