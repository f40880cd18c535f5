import { isRecord } from '../../base/json.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

/** The specifications of the AI SDK that are understood: `ai` 5 made the second, 6 the third, 7 the fourth. */
export const specificationVersions = ['v2', 'v3', 'v4'] as const;
/** One of `specificationVersions`. */
export type SpecificationVersion = (typeof specificationVersions)[number];

/** Whatever a model is called with or sends: records whose fields are looked at one by one. */
export type AiSdkRecord = Readonly<Record<string, unknown>>;

/** A language model as any version of the AI SDK declares it. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly doStream: (options: never) => PromiseLike<unknown>;
  readonly doGenerate: (options: never) => PromiseLike<unknown>;
}

/** A language model that has been looked at: of a known specification, with both of its methods. */
export interface CheckedModel {
  readonly version: SpecificationVersion;
  /** The AI SDK's own name for it: `openai.responses`. */
  readonly provider: string;
  readonly modelId: string;
  readonly doStream: (options: AiSdkRecord) => Promise<unknown>;
  readonly doGenerate: (options: AiSdkRecord) => Promise<unknown>;
}

/** Looks at a language model before anything is sent, and throws where it cannot be used. */
export function checkLanguageModel(model: unknown): CheckedModel {
  if (typeof model === 'string') {
    throw refusal('PROVIDER_NOT_SUPPORTED', {
      message: `Cannot use the model id "${model}": a bare id is resolved by the AI SDK's gateway, which retries by itself`,
      hint: `Make the model with its provider package and pass that: aiSdk(openai('gpt-5.2')). For the gateway: aiSdk(gateway('${model}')).`,
    });
  }
  if (!isRecord(model)) {
    throw refusal('CONFIG_ERROR', {
      message: `Cannot use ${model === null ? 'null' : `a value of type ${typeof model}`} as an AI SDK language model`,
      hint: notAModel,
    });
  }
  // Models of the AI SDK are instances of classes: fields may be getters of the prototype.
  const { specificationVersion, provider, modelId, doStream, doGenerate } = model;
  if (typeof doStream !== 'function' || typeof doGenerate !== 'function') {
    throw refusal('CONFIG_ERROR', {
      message: 'Cannot use this object as an AI SDK language model: it has no doStream and doGenerate',
      hint: notAModel,
    });
  }
  const version = specificationVersions.find((known) => known === specificationVersion);
  if (version === undefined) {
    throw refusal('PROVIDER_NOT_SUPPORTED', {
      message: `Cannot use a model of specification ${describe(specificationVersion)}: known are ${specificationVersions.join(', ')}`,
      hint: 'Install a provider package for ai 5, 6 or 7, or a newer Rerail.',
    });
  }
  const call = (method: typeof doStream) => async (options: AiSdkRecord) =>
    (await method.call(model, options)) as unknown; // Looked at by whoever asked.
  return {
    version,
    provider: typeof provider === 'string' && provider !== '' ? provider : 'ai-sdk',
    modelId: typeof modelId === 'string' ? modelId : '',
    doStream: call(doStream),
    doGenerate: call(doGenerate),
  };
}

const notAModel = "Pass what a provider package returns, such as openai('gpt-5.2') of @ai-sdk/openai.";

/** The provider without the AI SDK's name for the endpoint: `openai` of `openai.responses`. */
export function familyOf({ provider }: Pick<CheckedModel, 'provider'>): string {
  return provider.split('.', 1)[0] ?? provider;
}

interface Refusal {
  readonly message: string;
  readonly hint: string;
}

function refusal(code: FailureCode, texts: Refusal): RerailError {
  return RerailError.from(createFailure(code, texts));
}

function describe(version: unknown): string {
  return typeof version === 'string' ? `"${version}"` : 'none';
}
