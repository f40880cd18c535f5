import type { FailureCode } from '../codes.ts';
import type { Evidence } from './evidence.ts';

/** The next step a person can take, where the evidence makes it more precise than the code's own text. */
export function hintFor(code: FailureCode, evidence: Evidence): string | undefined {
  if (plainToTls.test(evidence.text)) {
    return 'The server speaks TLS at this address, but was asked without it: write https:// instead of http:// in the base URL, or check the port.';
  }
  if (code === 'AUTHENTICATION_ERROR') return keyHint(evidence.provider);
  if (code === 'NETWORK_ERROR') return networkHint(evidence);
  if (code === 'MODEL_NOT_FOUND' && evidence.provider === 'ollama')
    return 'Pull the model first: ollama pull <model>.';
  if (
    code === 'SERVER_ERROR' &&
    /(?:system|gpu|cuda|out of|insufficient|not enough)\b.{0,12}memory/.test(evidence.text)
  ) {
    return 'The host has too little memory for this model: free some, or choose a smaller model.';
  }
  if ((code === 'INVALID_RESPONSE' || evidence.status === 404) && evidence.isPage) {
    return 'A web page answered instead of the API: check the base URL, and whether a proxy or a login page stands in between.';
  }
  return undefined;
}

// nginx: 'The plain HTTP request was sent to HTTPS port'; Go: 'Client sent an HTTP request to an HTTPS server.';
// Apache: "Reason: You're speaking plain HTTP to an SSL-enabled server port."
const plainToTls =
  /plain http request was sent to https|sent an http request to an https|speaking plain http to an ssl/;

/** The environment variable that usually holds the key. */
const keyVariables: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  'azure-openai': 'AZURE_OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  groq: 'GROQ_API_KEY',
  cohere: 'CO_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  together: 'TOGETHER_API_KEY',
  fireworks: 'FIREWORKS_API_KEY',
  xai: 'XAI_API_KEY',
  perplexity: 'PERPLEXITY_API_KEY',
  cerebras: 'CEREBRAS_API_KEY',
  moonshot: 'MOONSHOT_API_KEY',
  dashscope: 'DASHSCOPE_API_KEY',
  zhipu: 'ZHIPUAI_API_KEY',
  minimax: 'MINIMAX_API_KEY',
  siliconflow: 'SILICONFLOW_API_KEY',
  huggingface: 'HF_TOKEN',
};

function keyHint(provider: string): string | undefined {
  if (provider === 'bedrock')
    return 'Check the AWS credentials: the profile, AWS_ACCESS_KEY_ID and whether the session has expired.';
  if (provider === 'vertex')
    return 'Check the Google credentials, for example with: gcloud auth application-default login.';
  const variable = Object.hasOwn(keyVariables, provider) ? keyVariables[provider] : undefined;
  return variable === undefined ? undefined : `Check ${variable}: is it set, complete, and still valid?`;
}

function networkHint({ errnos, messages, status, text }: Evidence): string | undefined {
  const words = messages.join('\n').slice(0, 2000);
  if (isTlsToPlain(errnos, text)) {
    return 'The server does not speak TLS at this address: check http:// or https:// in the base URL, and the port.';
  }
  if (errnos.some((errno) => errno === 'ENOTFOUND' || errno === 'EAI_AGAIN')) {
    const host = /(?:ENOTFOUND|EAI_AGAIN) ([\w.-]{1,253})/.exec(words)?.[1];
    const name = host === undefined ? 'The host of the base URL' : `The host "${host}"`;
    return `${name} could not be looked up: check the base URL for a typing mistake, then the network.`;
  }
  if (errnos.includes('ECONNREFUSED')) {
    const address = /ECONNREFUSED ([\w.:[\]-]{1,253})/.exec(words)?.[1];
    return `Nothing listens${address === undefined ? ' there' : ` on ${address}`}: start the server, or check the base URL.`;
  }
  if (
    /certificate|self.signed|altnames|x509/.test(text) ||
    errnos.some((errno) => /CERT|SIGNED|UNABLE_TO/.test(errno))
  ) {
    return 'The certificate is not trusted: check the host name and the clock, or add the root certificate of your organisation with NODE_EXTRA_CA_CERTS.';
  }
  return status === 407 || /proxy/.test(text)
    ? 'Check the proxy settings (HTTPS_PROXY, NO_PROXY) and its credentials.'
    : undefined;
}

/** What comes instead of a handshake is read as one: 'write EPROTO … ssl3_get_record:wrong version number'. */
function isTlsToPlain(errnos: readonly string[], text: string): boolean {
  if (errnos.includes('ERR_SSL_WRONG_VERSION_NUMBER') || text.includes('wrong version number')) return true;
  // An alert is TLS: that server speaks it, and refused.
  return errnos.includes('EPROTO') && !/\balert\b/.test(text);
}
