// Table: what each provider answers with when it refuses: status, error type and wording, in its own shape.
import { unreachable } from '../../base/assert.ts';
import type { Family } from '../route.ts';

/** What a provider may refuse a request for. */
export const errorKinds = [
  'rate-limit',
  'quota',
  'overloaded',
  'server-error',
  'auth',
  'forbidden',
  'billing',
  'model-not-found',
  'model-loading',
  'context-length',
  'request-too-large',
  'bad-request',
  'content-filter',
] as const;

/** One of `errorKinds`. */
export type ErrorKind = (typeof errorKinds)[number];

/** A refusal, before it becomes a response or an event of a stream. */
export interface WireError {
  readonly status: number;
  readonly body: object;
}

/** What a refusal mentions. */
export interface ErrorSubject {
  readonly model: string;
  readonly requestId: string;
  /** The stated wait in seconds, where there is one. */
  readonly waitS: number | undefined;
}

/** The refusal in the words of whoever was asked. */
export function wireError(family: Family, kind: ErrorKind, subject: ErrorSubject): WireError {
  return tables[family][kind](subject);
}

/** The body for a status that nobody has words for. */
export function plainError(
  family: Family,
  {
    status,
    message,
    requestId,
  }: { readonly status: number; readonly message: string; readonly requestId: string },
): WireError {
  switch (family) {
    case 'openai':
      return openai(status, { message, type: status >= 500 ? 'server_error' : 'invalid_request_error' });
    case 'anthropic':
      return anthropic(status, { message, type: anthropicTypes[status] ?? 'api_error', requestId });
    case 'gemini':
      return gemini(status, { message, status: geminiStatuses[status] ?? 'UNKNOWN' });
    case 'ollama':
      return { status, body: { error: message } };
    default:
      return unreachable(family);
  }
}

type Table = Record<ErrorKind, (subject: ErrorSubject) => WireError>;

const openaiTable = {
  'rate-limit': ({ model, waitS }) =>
    openai(429, {
      message: `Rate limit reached for ${model} on tokens per min (TPM): Limit 30000, Used 29500, Requested 900.${again(waitS)}`,
      type: 'tokens',
      code: 'rate_limit_exceeded',
    }),
  quota: () =>
    openai(429, {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
  overloaded: () =>
    openai(503, {
      message: 'The engine is currently overloaded, please try again later',
      type: 'service_unavailable_error',
      code: 'server_is_overloaded',
    }),
  'server-error': ({ requestId }) =>
    openai(500, {
      message: `The server had an error while processing your request (request ID ${requestId}).`,
      type: 'server_error',
    }),
  auth: () =>
    openai(401, {
      message: 'Incorrect API key provided.',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    }),
  forbidden: () =>
    openai(403, {
      message: 'You have insufficient permissions for this operation. Missing scopes: model.request.',
      type: 'invalid_request_error',
      code: 'missing_scope',
    }),
  billing: () =>
    openai(400, {
      message: 'Billing hard limit has been reached',
      type: 'billing_limit_user_error',
      code: 'billing_hard_limit_reached',
    }),
  'model-not-found': ({ model }) =>
    openai(404, {
      message: `The model \`${model}\` does not exist or you do not have access to it.`,
      type: 'invalid_request_error',
      code: 'model_not_found',
    }),
  'model-loading': () => ({
    status: 503,
    body: { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
  }),
  'context-length': () =>
    openai(400, {
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 160214 tokens. Please reduce the length of the messages.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
  'request-too-large': () =>
    openai(413, {
      message: 'Request body is too large',
      type: 'invalid_request_error',
      code: 'request_too_large',
    }),
  'bad-request': () =>
    openai(400, {
      message: "Invalid type for 'temperature': expected a decimal, but got a string instead.",
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'invalid_type',
    }),
  'content-filter': () =>
    openai(400, {
      message: 'Your request was rejected as a result of our safety system.',
      type: 'invalid_request_error',
      code: 'content_policy_violation',
    }),
} as const satisfies Table;

const anthropicTable = {
  'rate-limit': (subject) =>
    anthropic(429, {
      type: 'rate_limit_error',
      message:
        'This request would exceed the rate limit of 30,000 input tokens per minute for your organization.',
      ...subject,
    }),
  quota: (subject) =>
    anthropic(400, {
      type: 'invalid_request_error',
      message: 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
      ...subject,
    }),
  overloaded: (subject) => anthropic(529, { type: 'overloaded_error', message: 'Overloaded', ...subject }),
  'server-error': (subject) =>
    anthropic(500, { type: 'api_error', message: 'Internal server error', ...subject }),
  auth: (subject) =>
    anthropic(401, { type: 'authentication_error', message: 'invalid x-api-key', ...subject }),
  forbidden: (subject) =>
    anthropic(403, {
      type: 'permission_error',
      message: 'Your API key does not have permission to use the specified resource.',
      ...subject,
    }),
  billing: (subject) =>
    anthropic(402, {
      type: 'billing_error',
      message: "There's an issue with your billing or payment information.",
      ...subject,
    }),
  'model-not-found': (subject) =>
    anthropic(404, { type: 'not_found_error', message: `model: ${subject.model}`, ...subject }),
  'model-loading': (subject) =>
    anthropic(503, { type: 'api_error', message: 'The model is still loading', ...subject }),
  'context-length': (subject) =>
    anthropic(400, {
      type: 'invalid_request_error',
      message: 'prompt is too long: 213462 tokens > 200000 maximum',
      ...subject,
    }),
  'request-too-large': (subject) =>
    anthropic(413, { type: 'request_too_large', message: 'Request exceeds the maximum size', ...subject }),
  'bad-request': (subject) =>
    anthropic(400, {
      type: 'invalid_request_error',
      message: 'temperature: Input should be a valid number',
      ...subject,
    }),
  'content-filter': (subject) =>
    anthropic(400, {
      type: 'invalid_request_error',
      message: 'Output blocked by content filtering policy',
      ...subject,
    }),
} as const satisfies Table;

const geminiTable = {
  'rate-limit': ({ waitS }) =>
    gemini(429, {
      status: 'RESOURCE_EXHAUSTED',
      message: 'Resource has been exhausted (e.g. check quota).',
      details: [
        quotaFailure('GenerateContentInputTokensPerModelPerMinute'),
        ...(waitS === undefined
          ? []
          : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${waitS}s` }]),
      ],
    }),
  quota: () =>
    gemini(429, {
      status: 'RESOURCE_EXHAUSTED',
      message: 'You exceeded your current quota, please check your plan and billing details.',
      details: [quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier')],
    }),
  overloaded: () =>
    gemini(503, { status: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' }),
  'server-error': () => gemini(500, { status: 'INTERNAL', message: 'An internal error has occurred.' }),
  auth: () =>
    gemini(400, {
      status: 'INVALID_ARGUMENT',
      message: 'API key not valid. Please pass a valid API key.',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'API_KEY_INVALID',
          domain: 'googleapis.com',
        },
      ],
    }),
  forbidden: () =>
    gemini(403, { status: 'PERMISSION_DENIED', message: 'The caller does not have permission' }),
  billing: () =>
    gemini(402, { status: 'RESOURCE_EXHAUSTED', message: 'Your prepayment credits are depleted.' }),
  'model-not-found': ({ model }) =>
    gemini(404, {
      status: 'NOT_FOUND',
      message: `models/${model} is not found for API version v1beta, or is not supported for generateContent.`,
    }),
  'model-loading': () => gemini(503, { status: 'UNAVAILABLE', message: 'The model is still loading' }),
  'context-length': () =>
    gemini(400, {
      status: 'INVALID_ARGUMENT',
      message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
    }),
  'request-too-large': () =>
    gemini(413, {
      status: 'INVALID_ARGUMENT',
      message: 'Request payload size exceeds the limit: 20971520 bytes.',
    }),
  'bad-request': () =>
    gemini(400, {
      status: 'INVALID_ARGUMENT',
      message: 'Invalid value at \'generation_config.temperature\' (TYPE_FLOAT), "warm"',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'generation_config.temperature', description: 'Invalid value' }],
        },
      ],
    }),
  'content-filter': () =>
    gemini(400, { status: 'INVALID_ARGUMENT', message: 'The prompt was blocked due to safety reasons.' }),
} as const satisfies Table;

/** It has one field, so that its words are all there is. */
const ollamaTable = {
  'rate-limit': () => ollama(429, 'too many requests, try again later'),
  quota: () => ollama(402, 'you have reached your usage limit, please upgrade to continue'),
  overloaded: () => ollama(503, 'server busy, please try again. maximum pending requests exceeded'),
  'server-error': () => ollama(500, 'llama runner process has terminated: exit status 2'),
  auth: () => ollama(401, 'unauthorized'),
  forbidden: () => ollama(403, 'forbidden'),
  billing: () => ollama(402, 'payment required'),
  'model-not-found': ({ model }) => ollama(404, `model "${model}" not found, try pulling it first`),
  'model-loading': () => ollama(503, 'llm server loading model'),
  'context-length': () => ollama(400, 'the input length exceeds the context length'),
  'request-too-large': () => ollama(413, 'request body too large'),
  'bad-request': () => ollama(400, 'invalid input type'),
  'content-filter': () => ollama(400, 'blocked by content policy'),
} as const satisfies Table;

const tables = {
  openai: openaiTable,
  anthropic: anthropicTable,
  gemini: geminiTable,
  ollama: ollamaTable,
} as const satisfies Record<Family, Table>;

interface OpenaiFields {
  readonly message: string;
  readonly type: string;
  readonly param?: string;
  readonly code?: string;
}

function openai(status: number, { message, type, param, code }: OpenaiFields): WireError {
  return { status, body: { error: { message, type, param: param ?? null, code: code ?? null } } };
}

interface AnthropicFields {
  readonly type: string;
  readonly message: string;
  readonly requestId: string;
}

function anthropic(status: number, { type, message, requestId }: AnthropicFields): WireError {
  return { status, body: { type: 'error', error: { type, message }, request_id: requestId } };
}

interface GeminiFields {
  readonly status: string;
  readonly message: string;
  readonly details?: readonly object[];
}

function gemini(code: number, { status, message, details }: GeminiFields): WireError {
  return {
    status: code,
    body: { error: { code, message, status, ...(details === undefined ? {} : { details }) } },
  };
}

function ollama(status: number, error: string): WireError {
  return { status, body: { error } };
}

function again(waitS: number | undefined): string {
  return waitS === undefined ? '' : ` Please try again in ${waitS}s.`;
}

function quotaFailure(quotaId: string): object {
  return {
    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
    violations: [{ quotaId, quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests' }],
  };
}

const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const geminiStatuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
