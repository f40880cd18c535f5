import { isRecord } from '../../../base/json.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { Fields } from '../openai-problem.ts';

interface ReasoningDelta {
  /** DeepSeek, Qwen, Moonshot, vLLM … */
  readonly reasoning_content?: unknown;
  /** OpenRouter, Groq, Ollama, newer vLLM. */
  readonly reasoning?: unknown;
  /** OpenRouter, where the text is not also in `reasoning`. */
  readonly reasoning_details?: unknown;
}

interface ContentPart {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly thinking?: unknown;
  readonly summary?: unknown;
}

/** Adds what the model thought aloud. Servers that send it under two names send the same twice, so one is taken. */
export function readReasoning(delta: Fields, parts: StreamPart[]): void {
  const { reasoning_content: content, reasoning, reasoning_details: details }: ReasoningDelta = delta;
  if (content === undefined && reasoning === undefined && details === undefined) return;
  const text = firstText(content, reasoning) ?? detailsText(details);
  if (text !== '') parts.push({ type: 'reasoning-delta', text });
}

/** Adds the content of a delta: text, or Mistral's list of text and thinking. False where it is neither. */
export function readContent(content: unknown, parts: StreamPart[]): boolean {
  if (typeof content === 'string') {
    if (content !== '') parts.push({ type: 'text-delta', text: content });
    return true;
  }
  if (!Array.isArray(content)) return false;
  for (const part of content as readonly unknown[]) {
    if (!isRecord(part)) return false;
    const { type, text, thinking }: ContentPart = part;
    const thought = type === 'thinking' ? textsOf(thinking) : '';
    if (thought !== '') parts.push({ type: 'reasoning-delta', text: thought });
    if (type === 'text' && typeof text === 'string' && text !== '') parts.push({ type: 'text-delta', text });
  }
  return true;
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function detailsText(details: unknown): string {
  return Array.isArray(details) ? details.map(detailText).join('') : '';
}

function detailText(detail: unknown): string {
  const { text, summary }: ContentPart = isRecord(detail) ? detail : {};
  return firstText(text, summary) ?? '';
}

function textsOf(value: unknown): string {
  return typeof value === 'string' ? value : detailsText(value);
}
