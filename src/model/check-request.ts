import { causesOf } from '../errors/classify/causes.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure, FailureDetails } from '../errors/failure.ts';
import { findHistoryProblems } from './check-history.ts';
import type { SamplingOption } from './capabilities.ts';
import { partsOf } from './message.ts';
import type { Model } from './model.ts';
import type { ModelRequest } from './request.ts';

/** What is checked against: any model, also one that is only described. */
export type CheckedModel = Pick<Model, 'provider' | 'name' | 'capabilities'>;

const maxNamedProblems = 8;

/**
 * Says what a request asks for that the model does not take, and what no model would take, before anything is sent. One
 * failure names all of it. Nothing is dropped silently: whoever wants less asks for less.
 */
export function checkRequest(model: CheckedModel, request: ModelRequest): Failure | undefined {
  try {
    return findFailure(model, request);
  } catch (thrown) {
    // A caller without types may hand in anything.
    const message = `The request to ${nameOf(model)} is not one: look at its messages and their content`;
    return configFailure(model, { message, causes: causesOf(thrown) });
  }
}

function findFailure(model: CheckedModel, request: ModelRequest): Failure | undefined {
  const lacking = findLacking(model, request);
  const problems = [...findMessageProblems(request), ...findToolProblems(request), ...findNumbers(request)];
  if (lacking.length === 0 && problems.length === 0) return undefined;
  const sentences = [
    ...(lacking.length === 0 ? [] : [lackingSentence(nameOf(model), lacking)]),
    ...(problems.length === 0 ? [] : [`Cannot call ${nameOf(model)}: ${listProblems(problems)}`]),
  ];
  return configFailure(model, {
    message: sentences.join('. '),
    context: { lacking, problems: problems.slice(0, maxNamedProblems) },
  });
}

function configFailure({ provider, name }: CheckedModel, details: FailureDetails): Failure {
  return createFailure('CONFIG_ERROR', {
    phase: 'connect',
    sideEffect: 'none',
    provider: { provider, model: name },
    ...details,
  });
}

function nameOf({ provider, name }: CheckedModel): string {
  return `${provider} (${name})`;
}

function lackingSentence(target: string, lacking: readonly string[]): string {
  const names = lacking.map((name) => `"${name}"`);
  const list = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `${target} does not take ${list}: leave ${names.length === 1 ? 'it' : 'them'} out or choose another model`;
}

function listProblems(problems: readonly string[]): string {
  const rest = problems.length - maxNamedProblems;
  return problems.slice(0, maxNamedProblems).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

/** The fields of the request that the model has no use for, in the words of the request. */
function findLacking({ capabilities }: CheckedModel, request: ModelRequest): readonly string[] {
  const media = mediaOf(request);
  const lacks: readonly (readonly [name: string, isLacking: boolean])[] = [
    ['tools', (request.tools ?? []).length > 0 && !capabilities.tools],
    ['parallelToolCalls', request.parallelToolCalls !== undefined && !capabilities.parallelToolCalls],
    ['output', request.output !== undefined && capabilities.structuredOutput === 'none'],
    ['images', media.has('image') && !capabilities.images],
    ['files', media.has('file') && !capabilities.files],
    ['reasoning.effort', request.reasoning?.effort !== undefined && !capabilities.reasoningEffort],
    [
      'reasoning.budgetTokens',
      request.reasoning?.budgetTokens !== undefined && !capabilities.reasoningBudget,
    ],
    ...samplingOptions.map(
      (name) => [name, request[name] !== undefined && !capabilities.sampling.includes(name)] as const,
    ),
    ['continueFrom', request.continueFrom !== undefined && capabilities.continuation === 'none'],
  ];
  return lacks.filter(([, isLacking]) => isLacking).map(([name]) => name);
}

const samplingOptions = [
  'temperature',
  'topP',
  'topK',
  'frequencyPenalty',
  'presencePenalty',
  'stopSequences',
  'seed',
] as const satisfies readonly SamplingOption[];

/** The kinds of parts in all messages, what tools gave back included. */
function mediaOf({ messages }: ModelRequest): ReadonlySet<string> {
  const types = new Set<string>();
  for (const message of messages) {
    for (const part of partsOf<{ readonly type: string; readonly content?: unknown }>(message.content)) {
      types.add(part.type);
    }
    if (message.role !== 'tool') continue;
    for (const result of message.content) for (const part of partsOf(result.content)) types.add(part.type);
  }
  return types;
}

function findMessageProblems({ messages, continueFrom }: ModelRequest): readonly string[] {
  if (messages.length === 0) return ['"messages" is empty'];
  const isBlank = continueFrom !== undefined && continueFrom.trim() === '';
  return [...findHistoryProblems(messages), ...(isBlank ? ['"continueFrom" has no text to go on from'] : [])];
}

/** What every provider takes for a name; some take more. */
const legalName = /^[A-Za-z0-9_-]{1,64}$/;
const nameRule = 'must be 1 to 64 letters, digits, "_" or "-"';
const maxShownCharacters = 70;

function findToolProblems({ tools = [], toolChoice, output }: ModelRequest): readonly string[] {
  const names = tools.map((tool) => tool.name);
  const illegal = names.filter((name) => !legalName.test(name));
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const chosen = typeof toolChoice === 'object' ? toolChoice.name : undefined;
  return [
    ...illegal.map((name) => `the name of tool ${show(name)} ${nameRule}`),
    ...[...repeated].map((name) => `two tools are called ${show(name)}`),
    ...(chosen !== undefined && !names.includes(chosen)
      ? [`"toolChoice" names ${show(chosen)}, which is not among the tools`]
      : []),
    ...(toolChoice === 'required' && names.length === 0
      ? ['"toolChoice" is "required", but there are no tools']
      : []),
    ...(output !== undefined && !legalName.test(output.name)
      ? [`"output.name" ${nameRule}, got ${show(output.name)}`]
      : []),
  ];
}

interface NumberRule {
  readonly field: string;
  readonly value: number | undefined;
  readonly isLegal: (value: number) => boolean;
  readonly rule: string;
}

function findNumbers(request: ModelRequest): readonly string[] {
  const isWhole = Number.isSafeInteger;
  const between = (low: number, high: number) => (value: number) => value >= low && value <= high;
  const count = { isLegal: (value: number) => isWhole(value) && value > 0, rule: 'a whole number above 0' };
  const penalty = { isLegal: between(-2, 2), rule: 'a number from -2 to 2' };
  const rules: readonly NumberRule[] = [
    { field: 'maxOutputTokens', value: request.maxOutputTokens, ...count },
    {
      field: 'temperature',
      value: request.temperature,
      isLegal: between(0, 2),
      rule: 'a number from 0 to 2',
    },
    { field: 'topP', value: request.topP, isLegal: between(0, 1), rule: 'a number from 0 to 1' },
    { field: 'topK', value: request.topK, ...count },
    { field: 'frequencyPenalty', value: request.frequencyPenalty, ...penalty },
    { field: 'presencePenalty', value: request.presencePenalty, ...penalty },
    { field: 'seed', value: request.seed, isLegal: isWhole, rule: 'a whole number' },
    {
      field: 'reasoning.budgetTokens',
      value: request.reasoning?.budgetTokens,
      isLegal: (value) => isWhole(value) && value >= 0,
      rule: 'a whole number, 0 or above',
    },
  ];
  const numbers = rules
    .filter(({ value, isLegal }) => value !== undefined && !isLegal(value))
    .map(({ field, value, rule }) => `"${field}" must be ${rule}, got ${String(value)}`);
  const hasEmptyStop = (request.stopSequences ?? []).includes('');
  return hasEmptyStop ? [...numbers, '"stopSequences" holds an empty text'] : numbers;
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, maxShownCharacters));
}
