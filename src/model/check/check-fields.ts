import { isRecord } from '../../base/json.ts';
import { adviseName, nearestNames } from '../../base/nearest.ts';
import type { ModelRequest } from '../request.ts';
import { showName, showValue } from './show-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with the fields of a request besides its messages and tools: unknown ones, and values of another kind. */
export function findFieldProblems(request: Fields): readonly string[] {
  const problems: string[] = [];
  for (const field of Object.keys(request)) {
    const value = request[field];
    if (value === undefined) continue;
    const rule = rules.get(field);
    if (rule === undefined) problems.push(unknownField(field));
    else if (rule !== 'elsewhere' && !rule.isLegal(value)) problems.push(broken(field, rule.rule, value));
  }
  return isRecord(request['reasoning']) ? [...problems, ...findReasoning(request['reasoning'])] : problems;
}

interface FieldRule {
  readonly isLegal: (value: unknown) => boolean;
  readonly rule: string;
}

const isWhole = Number.isSafeInteger;
const isText = (value: unknown): boolean => typeof value === 'string';
const between = (low: number, high: number): FieldRule => ({
  isLegal: (value) => typeof value === 'number' && value >= low && value <= high,
  rule: `a number from ${low} to ${high}`,
});
const count: FieldRule = {
  isLegal: (value) => isWhole(value) && Number(value) > 0,
  rule: 'a whole number above 0',
};
const flag: FieldRule = { isLegal: (value) => typeof value === 'boolean', rule: 'true or false' };

/** Every field of a request: what it must be, or that another check looks at it. */
const fieldRules = {
  messages: 'elsewhere',
  tools: 'elsewhere',
  toolChoice: 'elsewhere',
  output: 'elsewhere',
  parallelToolCalls: flag,
  maxOutputTokens: count,
  temperature: between(0, 2),
  topP: between(0, 1),
  topK: count,
  frequencyPenalty: between(-2, 2),
  presencePenalty: between(-2, 2),
  stopSequences: {
    isLegal: (value) => Array.isArray(value) && value.every((stop) => isText(stop) && stop !== ''),
    rule: 'a list of texts, none of them empty',
  },
  seed: { isLegal: isWhole, rule: 'a whole number' },
  reasoning: { isLegal: isRecord, rule: '{ effort } or { budgetTokens }' },
  cacheKey: { isLegal: isText, rule: 'a text' },
  providerOptions: {
    isLegal: (value) => isRecord(value) && Object.values(value).every(isRecord),
    rule: 'fields by provider name, such as { openai: { service_tier: "flex" } }',
  },
  continueFrom: {
    isLegal: (value) => typeof value === 'string' && value.trim() !== '',
    rule: 'the text of a broken answer to continue, and not empty',
  },
} as const satisfies Readonly<Record<keyof ModelRequest, FieldRule | 'elsewhere'>>;

/** A map, for a request may have a field called "constructor". */
const rules: ReadonlyMap<string, FieldRule | 'elsewhere'> = new Map(Object.entries(fieldRules));

const efforts: ReadonlySet<unknown> = new Set(['none', 'minimal', 'low', 'medium', 'high']);

function findReasoning(reasoning: Fields): readonly string[] {
  const { effort, budgetTokens } = reasoning;
  const problems = unknownIn('reasoning', reasoning, ['effort', 'budgetTokens']);
  if (effort !== undefined && !efforts.has(effort)) {
    problems.push(broken('reasoning.effort', '"none", "minimal", "low", "medium" or "high"', effort));
  }
  if (budgetTokens !== undefined && !(isWhole(budgetTokens) && Number(budgetTokens) >= 0)) {
    problems.push(broken('reasoning.budgetTokens', 'a whole number, 0 or above', budgetTokens));
  }
  return problems;
}

/** Fields of a part of the request that there are not. One that is undefined is absent. */
export function unknownIn(part: string, given: Fields, known: readonly string[]): string[] {
  return Object.keys(given)
    .filter((name) => given[name] !== undefined && !known.includes(name))
    .map((name) => `"${part}" has no field ${showName(name)}: ${adviseName(name, known)}`);
}

const maxListCharacters = 70;

function broken(field: string, rule: string, value: unknown): string {
  if (Array.isArray(value)) {
    return `"${field}" must be ${rule}, got ${JSON.stringify(value).slice(0, maxListCharacters)}`;
  }
  return `"${field}" must be ${rule}, got ${showValue(value)}${value === null ? ' (leave it out instead)' : ''}`;
}

/** What other libraries call a field, or put into the request. */
const fieldsElsewhere: ReadonlyMap<string, string> = new Map([
  ...['maxTokens', 'max_tokens', 'max_output_tokens', 'max_completion_tokens'].map(
    (name) => [name, 'call it "maxOutputTokens"'] as const,
  ),
  ['top_p', 'call it "topP"'],
  ['top_k', 'call it "topK"'],
  ['frequency_penalty', 'call it "frequencyPenalty"'],
  ['presence_penalty', 'call it "presencePenalty"'],
  ...['stop', 'stop_sequences'].map((name) => [name, 'call it "stopSequences", a list'] as const),
  ['tool_choice', 'call it "toolChoice"'],
  ['parallel_tool_calls', 'call it "parallelToolCalls"'],
  ...['response_format', 'responseFormat'].map((name) => [name, 'write output: { name, schema }'] as const),
  ...['reasoning_effort', 'reasoningEffort'].map((name) => [name, 'write reasoning: { effort }'] as const),
  ['thinking', 'write reasoning: { budgetTokens }'],
  ...['system', 'instructions'].map(
    (name) => [name, "put a message { role: 'system', content } first"] as const,
  ),
  ...['prompt', 'input'].map((name) => [name, "write messages: [{ role: 'user', content }]"] as const),
  ['model', 'the model is made by a provider, not named in the request'],
  ['stream', 'leave it out, every answer is streamed where the model can'],
  ...['signal', 'abortSignal', 'timeouts', 'onEvent', 'policy'].map(
    (name) => [name, 'it belongs to the options of the call, not to the request'] as const,
  ),
]);

function unknownField(field: string): string {
  const [nearest] = nearestNames(field, [...rules.keys()]);
  const instead =
    fieldsElsewhere.get(field) ??
    (nearest === undefined
      ? 'leave it out, or put it into "providerOptions" if it is the provider\'s'
      : `did you mean "${nearest}"?`);
  return `a request has no field ${showName(field)}: ${instead}`;
}
