import { anyValue } from '../../model/check/check-options.ts';
import { checkToken } from '../api-key.ts';
import type { Environment } from '../api-key.ts';
import { capabilitiesOf } from '../capability-tables.ts';
import { configError, notConfiguredError } from '../config-error.ts';
import { defineProvider } from '../define-provider.ts';
import type { Wire } from '../define-provider.ts';
import { keepSecret } from '../kept-secrets.ts';
import type { Address } from '../open-endpoint.ts';
import { priceOf } from '../prices.ts';
import { gemini as geminiProtocol } from '../protocols/gemini/gemini.ts';
import type { Provider, ProviderOptions } from '../provider-options.ts';

/** What `vertex` takes besides what every provider takes. */
export interface VertexOptions extends Omit<ProviderOptions, 'apiKey'> {
  /** The Google Cloud project. Defaults to `GOOGLE_CLOUD_PROJECT`. */
  readonly project?: string | undefined;
  /** The region, or `global`. Defaults to `GOOGLE_CLOUD_LOCATION`, then to `global`. */
  readonly location?: string | undefined;
  /**
   * An access token, or what gets one. A function is asked before every attempt, so that a token never expires in the middle
   * of a long run; it should keep its token for as long as that is valid.
   */
  readonly accessToken?: string | AccessTokenSource | undefined;
}

/** Gets an access token, such as the `getAccessToken` of Google's own library does. */
export type AccessTokenSource = (options: { readonly signal: AbortSignal }) => string | Promise<string>;

/**
 * A Gemini model on Google Vertex AI. The token is the caller's: Rerail reads no credentials of Google itself.
 *
 * @example vertex('gemini-2.5-pro', { project: 'acme', location: 'europe-west1', accessToken: () => auth.getAccessToken() })
 */
export const vertex: Provider<VertexOptions> = defineProvider<VertexOptions>({
  provider: 'vertex',
  keyVariables: [],
  isKeyRequired: false,
  keyHeader: 'x-goog-api-key',
  address: vertexAddress,
  ownOptions: { project: anyValue, location: anyValue, accessToken: anyValue },
  wire: vertexWire,
  capabilities: (model) => capabilitiesOf('gemini', model),
  price: (model) => priceOf('gemini', model),
});

function vertexAddress(options: VertexOptions, environment: Environment): Address {
  const place = 'The option "baseURL"';
  if (options.baseURL !== undefined) return { url: options.baseURL, place, isOfficial: false };
  const project = options.project ?? environment['GOOGLE_CLOUD_PROJECT'];
  const location = options.location ?? environment['GOOGLE_CLOUD_LOCATION'] ?? 'global';
  if (project === undefined || project.trim() === '') {
    throw notConfiguredError(
      'vertex has no project: hand in the option "project", or set GOOGLE_CLOUD_PROJECT in the environment',
      { provider: 'vertex', origin: 'model' },
    );
  }
  for (const [name, value] of [
    ['project', project],
    ['location', location],
  ] as const) {
    if (/^[a-z0-9][a-z0-9:.-]*$/i.test(value)) continue;
    throw configError(
      `The option "${name}" of vertex must be letters, digits and "-": copy it from the Google Cloud console`,
    );
  }
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const path = `/v1/projects/${project}/locations/${location}/publishers/google`;
  return { url: `https://${host}${path}`, place, isOfficial: true };
}

function vertexWire(_model: string, { accessToken, project, headers }: VertexOptions): Wire {
  const hasOwnCredentials = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
  if (accessToken === undefined && hasOwnCredentials) return { protocol: geminiProtocol };
  if (accessToken === undefined) {
    throw notConfiguredError(
      'vertex has no access token: hand in the option "accessToken", a text such as "gcloud auth print-access-token" prints, or a function that gets one',
      { provider: 'vertex', origin: 'model' },
    );
  }
  if (typeof accessToken === 'string') checkToken(accessToken, 'vertex');
  return {
    protocol: geminiProtocol,
    authorize: createAuthorize(accessToken),
    // Tokens come and go; what shares limits is the project.
    quotaSecret: `vertex project ${project ?? ''}`,
  };
}

function createAuthorize(source: string | AccessTokenSource): NonNullable<Wire['authorize']> {
  let known: { readonly token: string } | undefined;
  return async ({ signal }) => {
    const token = typeof source === 'string' ? source : await source({ signal });
    checkToken(token, 'vertex');
    if (known?.token !== token) {
      known = { token };
      keepSecret(token, known);
    }
    return { authorization: `Bearer ${token}` };
  };
}
