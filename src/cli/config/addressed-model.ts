import { printable } from '../../base/printable.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Model } from '../../model/model.ts';
import { trustCall } from '../../model/trusted-calls.ts';
import { nodeTransport } from '../../providers/http/node-transport.ts';
import { knownModels } from '../../providers/known-models.ts';
import type { Transport } from '../../providers/http/transport.ts';
import { toType, wordsFor } from './provider-address.ts';
import type { ChosenAddress } from './provider-address.ts';

/** Makes a model at an address of the user's choice, and names that address where it fails. */
export function addressedModel(
  make: (transport: Transport) => Model,
  address: ChosenAddress,
  transport: Transport = nodeTransport,
): Model {
  const held: { asked: string | undefined } = { asked: undefined };
  const model = make({
    ...transport,
    send: (request, options) => {
      held.asked = request.url;
      return transport.send(request, options);
    },
  });
  const call = trustCall(async (request, options) => {
    const response = await model.call(request, options);
    if (response.type === 'success' || held.asked === undefined) return response;
    const { failure, partial } = response;
    return { type: 'failure', failure: withAddress(failure, { ...address, asked: held.asked }), partial };
  });
  return { ...model, call };
}

/** Who was asked, and who said to ask there. */
export interface AskedAddress extends Pick<ChosenAddress, 'from'> {
  /** The whole address of the request: `http://127.0.0.1:8000/v1/responses`. */
  readonly asked: string;
}

/** The failure with the address in its hint, and with what is probably wrong with it. */
export function withAddress(failure: Failure, address: AskedAddress): Failure {
  const hint = hintFor(failure, address);
  if (hint === undefined) return failure;
  return createFailure(failure.code, {
    ...failure,
    hint,
    context: { ...failure.context, asked: address.asked.split('?', 1)[0] ?? '', addressFrom: address.from },
  });
}

/** Whether the other side does not know the path. An API would have said what it misses, and under what type. */
export function isPathMissing({ code, provider, classifiedBy }: Failure): boolean {
  const { statusCode, errorType } = provider ?? {};
  if (statusCode !== 404 && statusCode !== 405) return false;
  return code !== 'MODEL_NOT_FOUND' || (errorType === undefined && classifiedBy !== 'wording');
}

function hintFor(failure: Failure, { asked, from }: AskedAddress): string | undefined {
  const { origin, pathname } = new URL(asked);
  const shown = origin + pathname;
  const before = failure.hint === undefined ? '' : `${failure.hint} `;
  const where = `${before}Asked was ${shown}, by ${wordsFor(from)}.`;
  if (isPathMissing(failure)) {
    const status = String(failure.provider?.statusCode);
    return `${shown} is not there (status ${status}), so that the base URL is more likely wrong than the model. ${likelyFault(shown, { failure, from })}${meantModel(failure)}`;
  }
  const { code, phase, context } = failure;
  if (code === 'AUTHENTICATION_ERROR' || code === 'PERMISSION_DENIED') {
    return `${before}The key was sent to ${origin}, by ${wordsFor(from)}: is it one of that server?`;
  }
  // What begins as an answer and breaks off comes from the right address.
  if (code === 'INVALID_RESPONSE' && context['isNoAnswer'] === true) {
    return `${where} ${likelyFault(shown, { failure, from })}`;
  }
  return code === 'MODEL_NOT_FOUND' || phase === 'connect' ? where : undefined;
}

interface FaultFacts extends Pick<ChosenAddress, 'from'> {
  readonly failure: Failure;
}

/** What a person would look at first, and what to type then. */
function likelyFault(asked: string, { failure, from }: FaultFacts): string {
  const { origin, pathname } = new URL(asked);
  const { provider = '', model = '' } = failure.provider ?? {};
  const version = versionOf(provider);
  const base = pathname.replace(endpoint, '');
  const usual = origin + version;
  if (!/\/v\d\w*$/.test(base)) {
    const other = base === '' ? '' : ` If no path should follow "${base}": ${toType(usual, from)}`;
    return `The version is probably missing: ${toType(origin + base + version, from)}${other}`;
  }
  if (base !== version) return `The path "${base}" is probably wrong: ${toType(usual, from)}`;
  if (provider === 'openai') {
    return `A server that speaks only Chat Completions has no /responses: type --model vllm:${printable(model)}, which asks for /chat/completions there, with the key in VLLM_API_KEY.`;
  }
  return `The server at ${origin} does not speak the API of ${provider}: check host and port, or name the provider that it speaks as in --model openai:<model>.`;
}

/** What is put below a base URL by the providers. */
const endpoint = /\/(?:chat\/completions|responses|messages|models\/[^/]+)$/;

function versionOf(provider: string): string {
  if (provider === 'gemini') return '/v1beta';
  return provider === 'groq' ? '/openai/v1' : '/v1';
}

function meantModel({ provider, context }: Failure): string {
  const { provider: owner = '', model = '' } = provider ?? {};
  const nearest: unknown = context['nearest'];
  const first: unknown = Array.isArray(nearest) ? nearest[0] : undefined;
  // A name that is known is not the mistake.
  if (typeof first !== 'string' || knownModels(owner).includes(model)) return '';
  return ` If the address is right: did you mean the model "${first}"?`;
}
