import { assert } from '../../base/assert.ts';
import { isRecord } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { attemptGenerate } from '../../providers/ai-sdk/attempt.ts';
import { checkLanguageModel } from '../../providers/ai-sdk/language-model.ts';
import type { AiSdkLanguageModel, AiSdkRecord, CheckedModel } from '../../providers/ai-sdk/language-model.ts';
import { toAiSdkError } from '../../providers/ai-sdk/to-ai-sdk-error.ts';
import { runAttempts } from '../../runtime/model-call/attempt-loop.ts';
import { resolveTimeouts } from '../../runtime/model-call/call-policy.ts';
import { checkPolicy as checkCallPolicy } from '../../runtime/model-call/check-options.ts';
import { holdsContent, toAttempted } from './attempted.ts';
import { asksNextOnFilter, signalOf, startCall, targetsOf, timeoutsWithin } from './resilient-call.ts';
import type { ResilientPolicy, Wrapped } from './resilient-call.ts';
import { streamResiliently } from './stream-resiliently.ts';
import { supportedUrlsOf } from './supported-urls.ts';

/**
 * An AI SDK model that retries, waits, breaks and falls back as Rerail does, for whoever keeps another framework. Several
 * models are a fallback chain. What it throws tells the AI SDK not to retry on top.
 *
 * @example
 * const model = resilient([anthropic('claude-sonnet-5'), openai('gpt-5.2')], { retry: 'patient' });
 * const { text } = await generateText({ model, prompt: 'Hello' });
 */
export function resilient<Given extends AiSdkLanguageModel>(
  models: Given | readonly [Given, ...Given[]],
  policy: ResilientPolicy = {},
): Given {
  const given = [models].flat() as readonly Given[]; // `flat` does not see through readonly lists.
  const [first, ...rest] = given.map(checkModel);
  if (first === undefined) throw misuse('the list of models is empty', 'Hand in at least one.');
  const other = rest.find(({ version }) => version !== first.version);
  if (other !== undefined) {
    const versions = `"${first.version}" (${first.provider}) and "${other.version}" (${other.provider})`;
    throw misuse(
      `its models are of different specifications, ${versions}`,
      'Use provider packages that were made for the same version of ai.',
    );
  }
  checkPolicy(policy);
  const wrapped: Wrapped = { models: [first, ...rest], policy };
  const model = {
    specificationVersion: first.version,
    provider: first.provider,
    modelId: first.modelId,
    get supportedUrls() {
      return supportedUrlsOf(given);
    },
    doGenerate: (options: AiSdkRecord) => generateResiliently(wrapped, options),
    doStream: (options: AiSdkRecord) => streamResiliently(wrapped, options),
  };
  return model as unknown as Given; // The fields of the specification that `first` was checked for.
}

function checkModel(model: unknown): CheckedModel {
  if (typeof model !== 'string') return checkLanguageModel(model);
  throw misuse(
    `"${model}" is the id of a model and not a model`,
    "Hand in what a provider package returns, such as openai('gpt-5.2') of @ai-sdk/openai.",
  );
}

/** A policy that makes no sense is told now and not with the first call. */
function checkPolicy(policy: unknown): asserts policy is ResilientPolicy {
  if (!isRecord(policy)) throw misuse('its policy is not an object', "Pass { retry: 'standard' }.");
  const { delivery, onEvent } = policy;
  if (delivery !== undefined && delivery !== 'live' && delivery !== 'whole') {
    const shown = typeof delivery === 'string' ? `"${delivery}"` : `a value of type ${typeof delivery}`;
    throw misuse(`"delivery" must be "live" or "whole", got ${shown}`, 'Leave it out for "live".');
  }
  if (onEvent !== undefined && typeof onEvent !== 'function') {
    throw misuse(`"onEvent" must be a function, got ${typeof onEvent}`, 'Leave it out to hear nothing.');
  }
  const wishes = ['delivery', 'onEvent', 'gates', 'clock', 'random'];
  checkCallPolicy(Object.fromEntries(Object.entries(policy).filter(([name]) => !wishes.includes(name))));
  resolveTimeouts(policy['timeouts'] as ResilientPolicy['timeouts']); // Both look at what they are given.
  startCall(policy, undefined);
}

async function generateResiliently(wrapped: Wrapped, callOptions: AiSdkRecord): Promise<AiSdkRecord> {
  const { loopOptions, settled } = startCall(wrapped.policy, signalOf(callOptions));
  const { clock, signal } = loopOptions;
  const targets = targetsOf(wrapped, async (model, { leftMs }) => {
    const timeouts = timeoutsWithin(wrapped.policy, leftMs);
    const outcome = await attemptGenerate(model, callOptions, { signal, clock, timeouts });
    return toAttempted(model, outcome, {
      hasContent: outcome.type === 'success' && holdsContent(outcome.result),
      isFinal: false,
      asksNextOnFilter: asksNextOnFilter(wrapped, model),
    });
  });
  const ended = await runAttempts(targets, loopOptions);
  await settled();
  if (ended.type === 'failure') throw toAiSdkError(ended.failure);
  assert(ended.value.type === 'success', 'A call that succeeded has the result of its attempt');
  return ended.value.result;
}

function misuse(what: string, hint: string): RerailError {
  const message = `Cannot make a resilient model: ${what}`;
  return RerailError.from(createFailure('CONFIG_ERROR', { origin: 'config', message, hint }));
}
