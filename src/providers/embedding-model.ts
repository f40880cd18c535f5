import { defined } from '../base/defined.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { checkOptions } from '../model/check/check-options.ts';
import type { EmbeddingModel, EmbeddingResponse, EmbedOptions } from '../model/embedding.ts';
import { asPool } from '../model/key-pool.ts';
import { costOf } from '../model/price.ts';
import type { Price } from '../model/price.ts';
import type { RequestNote } from '../model/request-note.ts';
import { configError } from './config-error.ts';
import { embeddingOptionRules } from './embedding-options.ts';
import type { EmbeddingOptions } from './embedding-options.ts';
import type { EmbeddingAnswer, EmbeddingProtocol } from './embedding-protocols.ts';
import { postJson } from './http-json.ts';
import type { JsonPost } from './http-json.ts';
import { createEndpoint } from './http/endpoint.ts';
import { nodeTransport } from './http/node-transport.ts';
import { secretsIn } from './custom-headers.ts';
import { keepSecret } from './kept-secrets.ts';
import { openEndpoints } from './open-endpoint.ts';
import type { Access, Endpoint } from './open-endpoint.ts';
import { priceOf } from './prices.ts';
import { quotaKeyOf } from './quota-key.ts';

/** Long enough for every model there is: 8,192 tokens of the densest text. A model's own limit is the provider's to tell. */
const defaultMaxTextCharacters = 100_000;

interface EmbeddingSetup {
  readonly options: EmbeddingOptions;
  readonly protocol: EmbeddingProtocol;
}

/** An embedding model behind HTTP. Throws where the set-up is wrong; after that, nothing throws. */
export function createEmbeddingModel(
  access: Access,
  model: string,
  { options, protocol }: EmbeddingSetup,
): EmbeddingModel {
  const { provider } = access;
  checkOptions({ of: `an embedding model of ${provider}`, rules: embeddingOptionRules }, options);
  const bounds = readBounds(provider, model, { options, protocol });
  const [first, ...rest] = openEndpoints(access, options, 'embedding');
  const toModel = (endpoint: Endpoint): EmbeddingModel =>
    embeddingAt(endpoint, { provider, model, options, protocol, bounds });
  return asPool(toModel(first), rest.map(toModel));
}

interface EmbeddingFacts extends EmbeddingSetup {
  readonly provider: string;
  readonly model: string;
  readonly bounds: Bounds;
}

function embeddingAt(
  endpoint: Endpoint,
  { provider, model, options, protocol, bounds }: EmbeddingFacts,
): EmbeddingModel {
  const headers = { ...endpoint.keyHeaders, ...endpoint.ownHeaders };
  const wire = createEndpoint({
    provider,
    baseURL: endpoint.baseURL,
    headers,
    query: {},
    isStream: false,
  });
  const price = options.price ?? priceOf(provider, model);
  const target = { model, dimensions: options.dimensions };
  const subject: Subject = defined({ provider, model, price });
  const made = defined({
    provider,
    name: model,
    quotaKey: quotaKeyOf({ provider, baseURL: endpoint.baseURL, secret: endpoint.secret }),
    maxBatch: bounds.maxBatch,
    price,
    embed: async (texts: readonly string[], attempt: EmbedOptions = {}) => {
      const refused = checkTexts(texts, { ...subject, ...bounds });
      if (refused !== undefined) return failed(refused);
      if (texts.length === 0) return { type: 'success' as const, result: { vectors: [], usage: {} } };
      const { path, body } = protocol.request(texts, target);
      const notes: RequestNote[] = [];
      const post: JsonPost = {
        provider,
        model,
        url: wire.urlFor(path),
        headers: wire.headersFor(),
        body,
        transport: endpoint.transport ?? nodeTransport,
        onReconnected: () => void notes.push({ type: 'reconnected' }),
      };
      const response = await answerTo({ post, attempt, protocol }, texts.length, subject);
      return notes.length === 0 ? response : { ...response, notes };
    },
  });
  // Copies of a model share this function, and nothing is sent without it.
  for (const secret of secretsIn(headers)) keepSecret(secret, made.embed);
  return made;
}

interface Subject {
  readonly provider: string;
  readonly model: string;
  readonly price?: Price;
}

interface Bounds {
  readonly maxBatch: number;
  readonly maxTextCharacters: number;
}

function readBounds(provider: string, model: unknown, { options, protocol }: EmbeddingSetup): Bounds {
  if (typeof model !== 'string' || !/^[\u0021-\u007e]{1,256}$/.test(model)) {
    throw configError(`An embedding model of ${provider} needs a name: hand in one without spaces`);
  }
  const bounds = {
    maxBatch: options.maxBatch ?? protocol.maxBatch,
    maxTextCharacters: options.maxTextCharacters ?? defaultMaxTextCharacters,
  };
  for (const [name, value] of Object.entries({ ...bounds, dimensions: options.dimensions ?? 1 })) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw configError(
      `The option "${name}" of ${provider} must be a whole number above 0, got ${String(value)}`,
    );
  }
  return bounds;
}

/** What would only be refused after it was sent, or cut without a word. */
function checkTexts(
  texts: readonly string[],
  { provider, model, maxBatch, maxTextCharacters }: Subject & Bounds,
): Failure | undefined {
  const refuse = (code: 'CONFIG_ERROR' | 'REQUEST_TOO_LARGE', reason: string): Failure =>
    createFailure(code, {
      origin: code === 'CONFIG_ERROR' ? 'config' : 'embedding',
      message: `Cannot embed with ${provider} (${model}): ${reason}`,
      phase: 'connect',
      sideEffect: 'none',
      provider: { provider, model },
    });
  // `Array.isArray` as a condition would make the texts a list of anything.
  const isList: boolean = Array.isArray(texts);
  if (!isList) return refuse('CONFIG_ERROR', 'the texts must be a list: write [text] for one');
  if (texts.length > maxBatch) {
    return refuse('CONFIG_ERROR', `${texts.length} texts in one call, at most ${maxBatch}: use embedAll`);
  }
  const other = texts.findIndex((text) => typeof text !== 'string');
  if (other !== -1) {
    return refuse(
      'CONFIG_ERROR',
      `what stands at index ${other} is no text but of type ${typeof texts[other]}`,
    );
  }
  const blank = texts.findIndex((text) => text.trim() === '');
  if (blank !== -1) return refuse('CONFIG_ERROR', `the text at index ${blank} is empty: leave it out`);
  const long = texts.findIndex((text) => text.length > maxTextCharacters);
  if (long === -1) return undefined;
  return refuse(
    'REQUEST_TOO_LARGE',
    `the text at index ${long} has ${texts[long]?.length ?? 0} characters, at most ${maxTextCharacters}: split it`,
  );
}

interface Exchange {
  readonly post: JsonPost;
  readonly attempt: EmbedOptions;
  readonly protocol: EmbeddingProtocol;
}

async function answerTo(
  { post, attempt, protocol }: Exchange,
  count: number,
  subject: Subject,
): Promise<EmbeddingResponse> {
  try {
    const response = await postJson(post, attempt);
    if (response.type === 'failure') return failed(response.failure);
    const answer = protocol.read(response.body);
    const fault = typeof answer === 'string' ? answer : findFault(answer, count);
    if (typeof answer === 'string' || fault !== undefined) {
      return failed(invalidResponse(subject, fault ?? ''));
    }
    const { usage, servedBy } = answer;
    // Embeddings have no output: its price is that of the input alone.
    const costUsd = costOf({ ...usage, outputTokens: 0 }, subject.price);
    const vectors = answer.vectors.map((vector) => Float32Array.from(vector as readonly number[])); // Checked by findFault.
    return { type: 'success', result: defined({ vectors, usage, costUsd, servedBy }) };
  } catch (thrown) {
    // A defect of ours must not reject either: the port promises that nothing does.
    return failed(classifyFailure(thrown, 'embedding'));
  }
}

function findFault({ vectors }: EmbeddingAnswer, count: number): string | undefined {
  if (vectors.length !== count) return `${vectors.length} vectors for ${count} texts`;
  const length = Array.isArray(vectors[0]) ? vectors[0].length : 0;
  for (const [index, vector] of vectors.entries()) {
    if (!Array.isArray(vector) || vector.length === 0) return `the vector at index ${index} is empty`;
    if (vector.length !== length) {
      return `the vector at index ${index} has ${vector.length} numbers, the first has ${length}`;
    }
    // As it will be kept: what is too large for 32 bits would become infinite there.
    const wrong = vector.findIndex(
      (value) => typeof value !== 'number' || !Number.isFinite(Math.fround(value)),
    );
    if (wrong !== -1)
      return `the vector at index ${index} holds something at ${wrong} that is no finite number`;
  }
  return undefined;
}

function invalidResponse({ provider, model }: Subject, reason: string): Failure {
  return createFailure('INVALID_RESPONSE', {
    origin: 'embedding',
    message: `The answer of ${provider} (${model}) is not what was asked for: ${reason}`,
    phase: 'parse',
    sideEffect: 'possible',
    provider: { provider, model },
  });
}

function failed(failure: Failure): EmbeddingResponse {
  return { type: 'failure', failure };
}
