import { defined } from '../../base/defined.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { createAssembly } from '../../model/assembly.ts';
import type { Assembled } from '../../model/assembly.ts';
import { someCapabilities } from '../../model/capabilities.ts';
import type { Capabilities } from '../../model/capabilities.ts';
import { checkRequest } from '../../model/check/check-request.ts';
import type { AttemptOptions, Model, ModelResponse } from '../../model/model.ts';
import { aPrice } from '../../model/price.ts';
import type { Price } from '../../model/price.ts';
import type { ModelRequest } from '../../model/request.ts';
import { settle } from '../../model/settle.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';
import { isPromiseLike } from '../../base/promise-like.ts';
import { withVerdict } from '../classify-error.ts';
import type { ClassifyError, FailureEvidence } from '../classify-error.ts';
import { attemptGenerate, attemptStream } from './attempt.ts';
import { dialectOf } from './dialects.ts';
import { evidenceOf, modelFailure, nameOfModel } from './failures.ts';
import { checkLanguageModel, familyOf } from './language-model.ts';
import type { AiSdkLanguageModel, CheckedModel } from './language-model.ts';
import { readPart } from './read-part.ts';
import type { ReadPart } from './read-part.ts';
import { toCallOptions } from './to-call-options.ts';
import { createTranslator } from './translator.ts';
import { aFlag, aFunction, aText, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule } from '../../model/check/check-options.ts';

/** What may be said about an AI SDK model that it does not say itself. */
export interface AiSdkOptions {
  readonly price?: Price;
  /** Where the model can do more or less than AI SDK models in general: `{ structuredOutput: 'none' }`. */
  readonly capabilities?: Partial<Capabilities>;
  /** What shares limits and outages with this model; by default all models of its AI SDK provider. */
  readonly quotaKey?: string;
  /** `false` asks for the answer in one piece, by `doGenerate`. */
  readonly stream?: boolean;
  /** Goes on where the model drops what was asked for, or sends what Rerail has no place for. By default the call fails. */
  readonly allowWarnings?: boolean;
  /** Takes an answer for whole although its end has no reason; by default it counts as cut off. */
  readonly acceptUnknownFinish?: boolean;
  /** Corrects how a failure of the model is classified: its code, whether it is retryable and how long to wait. */
  readonly classifyError?: ClassifyError;
}

const optionRules: Readonly<Record<keyof AiSdkOptions, OptionRule>> = {
  price: aPrice,
  capabilities: someCapabilities,
  quotaKey: aText,
  stream: aFlag,
  allowWarnings: aFlag,
  acceptUnknownFinish: aFlag,
  classifyError: aFunction,
};

/**
 * Any language model of the AI SDK as a model of Rerail: `ai` 5, 6 and 7, with or without middleware. One call is one
 * `doStream`; provider packages do not retry, so that Rerail alone decides.
 *
 * @example
 * import { mistral } from '@ai-sdk/mistral';
 * const agent = createAgent({ name: 'support', model: [aiSdk(mistral('mistral-large-latest')), openai('gpt-5.2')] });
 */
export function aiSdk(model: AiSdkLanguageModel, options: AiSdkOptions = {}): Model {
  checkOptions({ of: 'aiSdk()', rules: optionRules }, options);
  const checked = checkLanguageModel(model);
  const described = {
    provider: familyOf(checked),
    name: checked.modelId,
    quotaKey: options.quotaKey ?? `ai-sdk ${familyOf(checked)}`,
    capabilities: { ...capabilitiesOf(checked), ...defined(options.capabilities ?? {}) },
    ...defined({ price: options.price }),
  };
  return {
    ...described,
    call: (request, attemptOptions = {}) => {
      const refused = checkRequest(described, request);
      if (refused !== undefined) return Promise.resolve(refuse(refused, checked));
      return callOnce(checked, request, { ...attemptOptions, ...options });
    },
  };
}

function capabilitiesOf(model: CheckedModel): Capabilities {
  const dialect = dialectOf(model);
  return {
    tools: true,
    parallelToolCalls: dialect.parallelToolCalls !== undefined,
    structuredOutput: 'native',
    images: true,
    files: true,
    reasoningEffort: model.version === 'v4' || dialect.effort !== undefined,
    reasoningBudget: dialect.budget !== undefined,
    caching: dialect.cache === undefined ? 'none' : 'marked',
    sampling: ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'stopSequences', 'seed'],
    continuation: 'none',
  };
}

type OnceOptions = AttemptOptions & AiSdkOptions;

async function callOnce(
  model: CheckedModel,
  request: ModelRequest,
  options: OnceOptions,
): Promise<ModelResponse> {
  const mapped = toCallOptions(request, model);
  if (mapped.type === 'refused') return refuse(cannotSend(mapped.problems, model), model);
  const assembly = createAssembly();
  const translate = createTranslator(model);
  let isOver = false;
  let evidence: FailureEvidence = {};
  /** Nothing is told after the attempt has ended, however late a listener is. */
  function tell(parts: readonly StreamPart[]): void | Promise<void> {
    for (const [index, part] of parts.entries()) {
      if (isOver) return undefined;
      assembly.push(part);
      const heard = options.onPart?.(part);
      if (isPromiseLike(heard)) return heard.then(() => tell(parts.slice(index + 1)));
    }
    return undefined;
  }
  const attempt = options.stream === false ? attemptGenerate : attemptStream;
  const outcome = await attempt(model, mapped.callOptions, {
    signal: options.signal,
    timeouts: options.timeouts,
    clock: options.clock,
    acceptsUnknownFinish: options.acceptUnknownFinish,
    refuse: (read) => (options.allowWarnings === true ? undefined : findLoss(read, model)),
    onThrown: (error) => {
      evidence = evidenceOf(error);
    },
    onPart: (_, read) => tell(translate(read)),
    onFinish: (_, read) => tell(translate(read)),
  });
  isOver = true;
  const who = { provider: familyOf(model), model: model.modelId, price: options.price };
  const judge = (response: ModelResponse): ModelResponse =>
    withVerdict(response, options.classifyError, () => evidence);
  if (outcome.type === 'success') return judge(settle(assembly.read(), who));
  // The tokens of a broken answer are spent all the same.
  const finish = outcome.finishPart === undefined ? undefined : readPart(outcome.finishPart);
  if (finish?.type === 'finish') assembly.push({ type: 'usage', usage: finish.usage });
  return judge(settle(withoutBrokenCalls(assembly.read()), { ...who, failure: outcome.failure }));
}

/** Packages that notice the end of a stream hand out a half-written call as if it were whole. */
function withoutBrokenCalls(assembled: Assembled): Assembled {
  const content = assembled.content.filter(
    (part) => part.type !== 'tool-call' || parseToolArguments(part.argumentsText).type !== 'invalid',
  );
  return { ...assembled, content };
}

/**
 * What would be lost without a word. A model says only in its first part what of the request it dropped, when the request
 * has been sent; to go on would give an answer to another question than was asked.
 */
function findLoss(read: ReadPart, model: CheckedModel): Failure | undefined {
  if (read.type === 'opened' && read.dropped.length > 0) {
    return modelFailure('INVALID_REQUEST', model, {
      phase: 'body',
      message: `${nameOfModel(model)} drops what was asked for: ${read.dropped.join(', ')}`,
      hint: 'Leave it out of the request, or make the model with { allowWarnings: true } to go on without it.',
      context: { dropped: read.dropped },
    });
  }
  if (read.type === 'foreign') {
    return modelFailure('INVALID_RESPONSE', model, {
      phase: 'body',
      retryable: false,
      message: `${nameOfModel(model)} sent ${read.what}, which has no place in an answer`,
      hint: 'Make the model with { allowWarnings: true } to go on without it.',
    });
  }
  return undefined;
}

function cannotSend(problems: readonly string[], model: CheckedModel): Failure {
  return createFailure('CONFIG_ERROR', {
    message: `Cannot call ${nameOfModel(model)}: ${problems.join('; ')}`,
    phase: 'connect',
    sideEffect: 'none',
    provider: { provider: familyOf(model), model: model.modelId },
    context: { problems },
  });
}

function refuse(failure: Failure, model: CheckedModel): ModelResponse {
  return settle(createAssembly().read(), { provider: familyOf(model), model: model.modelId, failure });
}
