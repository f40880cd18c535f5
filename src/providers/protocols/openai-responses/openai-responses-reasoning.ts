import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import type { Signature } from '../../../model/message.ts';
import type { DecodeProblem } from '../../protocol.ts';
import { malformed } from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';
import { indexOf, itemOf, mismatch } from './openai-responses-state.ts';
import type { Item, ResponsesState, ThoughtKind } from './openai-responses-state.ts';

interface ThoughtEvent {
  readonly summary_index?: unknown;
  readonly content_index?: unknown;
  readonly delta?: unknown;
}

interface ReasoningItem {
  readonly id?: unknown;
  readonly summary?: unknown;
  readonly content?: unknown;
  readonly encrypted_content?: unknown;
}

type Read = (state: ResponsesState, event: Fields) => DecodeProblem | undefined;

/** Reads a piece of a summary of the reasoning, or of the reasoning itself. */
export function readThoughtDelta(kind: ThoughtKind): Read {
  return (state, event) => {
    const { delta: text, summary_index: summaryIndex, content_index: contentIndex }: ThoughtEvent = event;
    if (typeof text !== 'string') return malformed('"delta" must be text', event);
    const item = itemOf(state, event);
    if (text === '' || !isOfKind(item, kind)) return undefined;
    const index = indexOf(summaryIndex ?? contentIndex);
    const block = item.thoughts.get(index);
    if (block === undefined) addThought(state, item, { index, text });
    else {
      block.text += text;
      state.parts.push({ type: 'reasoning-delta', text });
    }
    return undefined;
  };
}

/** Reads the end of one of them. */
export function readThoughtDone(kind: ThoughtKind): Read {
  return (state, event) => {
    const { summary_index: summaryIndex, content_index: contentIndex }: ThoughtEvent = event;
    const item = itemOf(state, event);
    if (!isOfKind(item, kind)) return undefined;
    return settleThought(state, item, { index: indexOf(summaryIndex ?? contentIndex), content: event });
  };
}

/** Reads the end of a reasoning item. What it encrypted must be sent back, and is its signature. */
export function finishReasoning(state: ResponsesState, item: Item, whole: Fields): DecodeProblem | undefined {
  const reasoning: ReasoningItem = whole;
  const summary = listOf(reasoning.summary);
  item.thoughtKind ??= summary.length > 0 ? 'summary' : 'text';
  const parts = item.thoughtKind === 'summary' ? summary : listOf(reasoning.content);
  for (const [index, part] of parts.entries()) {
    const problem = isRecord(part) ? settleThought(state, item, { index, content: part }) : undefined;
    if (problem !== undefined) return problem;
  }
  const signature = readSignature(reasoning);
  if (item.thoughts.size > 0 || signature !== undefined) {
    state.parts.push({ type: 'reasoning-finished', ...defined({ signature }) });
  }
  return undefined;
}

function isOfKind(item: Item, kind: ThoughtKind): boolean {
  item.thoughtKind ??= kind;
  return item.thoughtKind === kind;
}

interface WholeThought {
  readonly index: number;
  readonly content: Fields;
}

function settleThought(
  state: ResponsesState,
  item: Item,
  { index, content }: WholeThought,
): DecodeProblem | undefined {
  const whole = content['text'];
  if (typeof whole !== 'string' || whole === '') return undefined;
  const block = item.thoughts.get(index);
  if (block !== undefined) return block.text === whole ? undefined : mismatch('reasoning', content);
  addThought(state, item, { index, text: whole });
  return undefined;
}

/** Summaries come in several parts, which belong to one item and are shown as paragraphs. */
function addThought(
  state: ResponsesState,
  item: Item,
  { index, text }: { readonly index: number; readonly text: string },
): void {
  if (item.thoughts.size > 0) state.parts.push({ type: 'reasoning-delta', text: '\n\n' });
  item.thoughts.set(index, { text });
  state.parts.push({ type: 'reasoning-delta', text });
}

function readSignature({ id, encrypted_content: value }: ReasoningItem): Signature | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return {
    protocol: 'openai-responses',
    value,
    ...defined({ id: typeof id === 'string' ? id : undefined }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
