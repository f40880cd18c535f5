import { defined } from '../../../base/defined.ts';
import { readCount } from '../../../model/usage.ts';
import type { Usage } from '../../../model/usage.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Gemini's counts in our terms; each event holds all that was used so far. */
export function geminiUsage(metadata: Fields): Usage {
  const {
    promptTokenCount: prompt,
    toolUsePromptTokenCount: toolPrompt,
    candidatesTokenCount: answer,
    thoughtsTokenCount: thoughts,
    cachedContentTokenCount: cached,
    totalTokenCount: total,
  } = metadata;
  const inputTokens = sum(prompt, toolPrompt);
  // Google leaves out a count of 0: an answer that was all thoughts has none of its own, but the total tells.
  const outputTokens = isAbsent(answer) ? difference(total, inputTokens) : sum(answer, thoughts);
  return defined({
    inputTokens,
    outputTokens,
    reasoningTokens: readCount(thoughts),
    cacheReadTokens: readCount(cached),
  });
}

/** Unknown where the main part is unknown, or the other was given as nonsense. */
function sum(main: unknown, other: unknown): number | undefined {
  const first = readCount(main);
  const second = isAbsent(other) ? 0 : readCount(other);
  return first === undefined || second === undefined ? undefined : readCount(first + second);
}

function difference(total: unknown, part: number | undefined): number | undefined {
  const whole = readCount(total);
  return whole === undefined || part === undefined ? undefined : readCount(whole - part);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
