import { isRecord } from '../../base/json.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure, FailureDetails } from '../../errors/failure.ts';
import type { Capabilities, SamplingOption } from '../capabilities.ts';
import { findFieldProblems } from './check-fields.ts';
import { findHistoryProblems } from './check-history.ts';
import { lookAtMessages } from './check-messages.ts';
import type { MessageFindings } from './check-messages.ts';
import { findToolProblems } from './check-tools.ts';
import type { Model } from '../model.ts';
import type { ModelRequest } from '../request.ts';
import { showValue } from './show-value.ts';

/** What is checked against: any model, also one that is only described. */
export type CheckedModel = Pick<Model, 'provider' | 'name' | 'capabilities'>;

const maxNamedProblems = 8;

/**
 * Says what a request asks for that the model does not take, and what no model would take, before anything is sent. One
 * failure names all of it. Nothing is dropped silently: a caller that wants less asks for less.
 */
export function checkRequest(model: CheckedModel, request: ModelRequest): Failure | undefined {
  try {
    return findFailure(model, request);
  } catch (thrown) {
    // A caller without types may hand in anything, an object that throws when it is read included.
    const message = `The request to ${nameOf(model)} cannot be read: pass plain objects, lists and texts`;
    return configFailure(model, { message, causes: causesOf(thrown) });
  }
}

function findFailure(model: CheckedModel, request: ModelRequest): Failure | undefined {
  if (!isRecord(request))
    return refuse(model, [], [`a request is { messages: […] }, got ${showValue(request)}`]);
  const messages = lookAtMessages(request.messages);
  const inMessages =
    messages.hasCalls && messages.problems.length === 0
      ? findHistoryProblems(request.messages)
      : messages.problems;
  const inTools = findToolProblems(request);
  const inFields = findFieldProblems(request);
  const lacking = findLacking(model, request, messages);
  if (lacking.length + inMessages.length + inTools.length + inFields.length === 0) return undefined;
  return refuse(model, lacking, [...inMessages, ...inTools, ...inFields]);
}

function refuse(model: CheckedModel, lacking: readonly string[], problems: readonly string[]): Failure {
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
function findLacking(
  { capabilities }: CheckedModel,
  request: ModelRequest,
  messages: MessageFindings,
): readonly string[] {
  const lacking: string[] = [];
  for (const { name, isAsked, isTaken } of features) {
    if (isAsked(request, messages) && !isTaken(capabilities)) lacking.push(name);
  }
  return lacking;
}

interface Feature {
  readonly name: string;
  readonly isAsked: (request: ModelRequest, messages: MessageFindings) => boolean;
  readonly isTaken: (capabilities: Capabilities) => boolean;
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

const features: readonly Feature[] = [
  {
    name: 'tools',
    isAsked: ({ tools }) => Array.isArray(tools) && tools.length > 0,
    isTaken: ({ tools }) => tools,
  },
  {
    name: 'parallelToolCalls',
    isAsked: ({ parallelToolCalls }) => parallelToolCalls !== undefined,
    isTaken: ({ parallelToolCalls }) => parallelToolCalls,
  },
  {
    name: 'output',
    isAsked: ({ output }) => output !== undefined,
    isTaken: ({ structuredOutput }) => structuredOutput !== 'none',
  },
  {
    name: 'output beside tools',
    isAsked: ({ output, tools }) => output !== undefined && Array.isArray(tools) && tools.length > 0,
    isTaken: ({ outputBesideTools }) => outputBesideTools !== false,
  },
  { name: 'images', isAsked: (_request, { hasImages }) => hasImages, isTaken: ({ images }) => images },
  { name: 'files', isAsked: (_request, { hasFiles }) => hasFiles, isTaken: ({ files }) => files },
  {
    name: 'reasoning.effort',
    isAsked: ({ reasoning }) => reasoning?.effort !== undefined,
    isTaken: ({ reasoningEffort }) => reasoningEffort,
  },
  {
    name: 'reasoning.budgetTokens',
    isAsked: ({ reasoning }) => reasoning?.budgetTokens !== undefined,
    isTaken: ({ reasoningBudget }) => reasoningBudget,
  },
  ...samplingOptions.map((name) => ({
    name,
    isAsked: (request: ModelRequest) => request[name] !== undefined,
    isTaken: ({ sampling }: Capabilities) => sampling.includes(name),
  })),
  {
    name: 'continueFrom',
    isAsked: ({ continueFrom }) => continueFrom !== undefined,
    isTaken: ({ continuation }) => continuation !== 'none',
  },
];
