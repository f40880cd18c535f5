// Table: every failure code, once. Types, classes, texts, docs/errors.md and exit codes follow from it.

/** The part of Rerail in which a failure arose. It decides the class that is thrown. */
export const origins = [
  'model',
  'tool',
  'agent',
  'context',
  'output',
  'flow',
  'hook',
  'storage',
  'durable',
  'mcp',
  'embedding',
  'sandbox',
  'registry',
  'config',
] as const;

/** One of `origins`. */
export type Origin = (typeof origins)[number];

/** How far a failure reaches: from 'the same step may be tried again' to 'the run is broken'. */
export const severities = ['retriable', 'replanning', 'reclassification', 'critical', 'fatal'] as const;

/** One of `severities`; see `severityOf`. */
export type Severity = (typeof severities)[number];

interface Traits {
  /** The default. A failure may know better and says so in its own `retryable`. */
  readonly retryable: boolean;
  /** The severity when it is not retryable; a retryable failure is always `retriable`. */
  readonly severity: Severity;
  /** What a server built on Rerail should answer its own client with. */
  readonly httpStatus: number;
  /** What a command line ends with. */
  readonly exitCode: number;
  /** Where the code arises; the first is taken where nobody says otherwise. */
  readonly origins: readonly [Origin, ...Origin[]];
}

/** Exit codes by kind of failure: a script can tell 'fix the key' from 'try again later'. */
export const exitCodes = {
  unknown: 1,
  usage: 2,
  credentials: 10,
  quota: 11,
  busy: 12,
  connection: 13,
  request: 14,
  filtered: 15,
  response: 16,
  tool: 20,
  stopped: 21,
  denied: 22,
  /** A run is suspended: it waits for a person or a time, and can be resumed. */
  waiting: 23,
  /** What was named lies in another workspace. */
  elsewhere: 24,
  storage: 30,
  /** Another process has the run or the store: later it may be free. */
  inUse: 31,
  internal: 70,
  cancelled: 130,
} as const;

const modelSide = ['model', 'embedding'] as const;
const toolFirst: readonly [Origin, ...Origin[]] = ['tool', ...origins.filter((origin) => origin !== 'tool')];
const everywhere: readonly [Origin, ...Origin[]] = [
  'agent',
  ...origins.filter((origin) => origin !== 'agent'),
];

/** The facts of every code. `severity` holds where a failure is not retryable: ask `severityOf`. */
// prettier-ignore
export const failureTraits = {
  PROVIDER_NOT_CONFIGURED: { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.credentials,  origins: modelSide },
  PROVIDER_NOT_SUPPORTED:  { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: modelSide },
  AUTHENTICATION_ERROR:    { retryable: false, severity: 'critical',   httpStatus: 502, exitCode: exitCodes.credentials,  origins: modelSide },
  PERMISSION_DENIED:       { retryable: false, severity: 'critical',   httpStatus: 403, exitCode: exitCodes.credentials,  origins: ['model', 'embedding', 'tool', 'sandbox', 'storage'] },
  MODEL_NOT_FOUND:         { retryable: false, severity: 'critical',   httpStatus: 502, exitCode: exitCodes.request,      origins: modelSide },
  MODEL_LOADING:           { retryable: true,  severity: 'critical',   httpStatus: 503, exitCode: exitCodes.busy,         origins: modelSide },
  RATE_LIMITED:            { retryable: true,  severity: 'critical',   httpStatus: 429, exitCode: exitCodes.busy,         origins: ['model', 'embedding', 'tool', 'mcp'] },
  QUOTA_EXCEEDED:          { retryable: false, severity: 'critical',   httpStatus: 502, exitCode: exitCodes.quota,        origins: modelSide },
  OVERLOADED:              { retryable: true,  severity: 'critical',   httpStatus: 503, exitCode: exitCodes.busy,         origins: modelSide },
  SERVER_ERROR:            { retryable: true,  severity: 'critical',   httpStatus: 502, exitCode: exitCodes.connection,   origins: ['model', 'embedding', 'tool', 'mcp'] },
  NETWORK_ERROR:           { retryable: true,  severity: 'critical',   httpStatus: 502, exitCode: exitCodes.connection,   origins },
  TIMEOUT:                 { retryable: true,  severity: 'critical',   httpStatus: 504, exitCode: exitCodes.connection,   origins: everywhere },
  CONTEXT_LENGTH_EXCEEDED: { retryable: false, severity: 'replanning', httpStatus: 413, exitCode: exitCodes.request,      origins: modelSide },
  REQUEST_TOO_LARGE:       { retryable: false, severity: 'replanning', httpStatus: 413, exitCode: exitCodes.request,      origins: modelSide },
  CONTENT_FILTERED:        { retryable: false, severity: 'critical',   httpStatus: 422, exitCode: exitCodes.filtered,     origins: modelSide },
  INVALID_REQUEST:         { retryable: false, severity: 'critical',   httpStatus: 502, exitCode: exitCodes.request,      origins },
  INVALID_RESPONSE:        { retryable: true,  severity: 'critical',   httpStatus: 502, exitCode: exitCodes.response,     origins },
  EMPTY_RESPONSE:          { retryable: true,  severity: 'replanning', httpStatus: 502, exitCode: exitCodes.response,     origins: ['model', 'embedding', 'flow'] },
  OUTPUT_TRUNCATED:        { retryable: false, severity: 'replanning', httpStatus: 502, exitCode: exitCodes.response,     origins: ['model'] },
  STREAM_INTERRUPTED:      { retryable: true,  severity: 'critical',   httpStatus: 502, exitCode: exitCodes.connection,   origins },
  TOOL_CALL_INVALID:       { retryable: true,  severity: 'replanning', httpStatus: 502, exitCode: exitCodes.response,     origins: modelSide },
  TOOL_EXECUTION_ERROR:    { retryable: false, severity: 'replanning', httpStatus: 500, exitCode: exitCodes.tool,         origins: ['tool'] },
  // What was chosen cannot do it at all: another plan with the same choice would fail alike.
  TOOL_NOT_FOUND:          { retryable: false, severity: 'reclassification', httpStatus: 500, exitCode: exitCodes.tool,   origins: ['tool'] },
  UNKNOWN_OUTCOME:         { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.tool,         origins: ['tool'] },
  VALIDATION_ERROR:        { retryable: false, severity: 'replanning', httpStatus: 422, exitCode: exitCodes.tool,         origins: toolFirst },
  SERIALIZATION_ERROR:     { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.tool,         origins: toolFirst },
  IO_ERROR:                { retryable: false, severity: 'replanning', httpStatus: 500, exitCode: exitCodes.tool,         origins: ['tool', 'sandbox'] },
  NOT_FOUND:               { retryable: false, severity: 'replanning', httpStatus: 404, exitCode: exitCodes.tool,         origins: ['tool', 'sandbox', 'mcp'] },
  PATH_OUTSIDE_WORKSPACE:  { retryable: false, severity: 'replanning', httpStatus: 403, exitCode: exitCodes.elsewhere,    origins: ['tool'] },
  SANDBOX_SETUP_FAILED:    { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.denied,       origins: ['sandbox'] },
  SANDBOX_EXECUTION_FAILED: { retryable: false, severity: 'replanning', httpStatus: 500, exitCode: exitCodes.tool,        origins: ['sandbox'] },
  OUTPUT_PARSE_ERROR:      { retryable: false, severity: 'replanning', httpStatus: 502, exitCode: exitCodes.response,     origins: ['output'] },
  COMPACTION_FAILED:       { retryable: false, severity: 'critical',   httpStatus: 413, exitCode: exitCodes.request,      origins: ['context'] },
  FLOW_INVALID:            { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: ['flow'] },
  FLOW_CYCLE:              { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: ['flow'] },
  MAX_HANDOFFS_EXCEEDED:   { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.stopped,      origins: ['flow'] },
  PLAN_INVALID:            { retryable: false, severity: 'replanning', httpStatus: 502, exitCode: exitCodes.response,     origins: ['flow'] },
  REPLAN_LIMIT:            { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.stopped,      origins: ['flow'] },
  INITIALIZATION_ERROR:    { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: ['agent'] },
  MAX_ITERATIONS_EXCEEDED: { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.stopped,      origins: ['agent'] },
  BUDGET_EXCEEDED:         { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.stopped,      origins: ['agent', 'model', 'embedding'] },
  ENDLESS_LOOP:            { retryable: false, severity: 'replanning', httpStatus: 500, exitCode: exitCodes.stopped,      origins: ['agent'] },
  INVALID_STATE:           { retryable: false, severity: 'fatal',      httpStatus: 409, exitCode: exitCodes.usage,        origins: ['agent', 'durable'] },
  HOOK_FAILED:             { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.denied,       origins: ['hook'] },
  HOOK_TERMINATED:         { retryable: false, severity: 'critical',   httpStatus: 403, exitCode: exitCodes.denied,       origins: ['hook'] },
  ACTIVITY_FAILED:         { retryable: false, severity: 'critical',   httpStatus: 502, exitCode: exitCodes.connection,   origins: ['durable'] },
  SIGNAL_TIMEOUT:          { retryable: true,  severity: 'critical',   httpStatus: 504, exitCode: exitCodes.connection,   origins: ['durable'] },
  HISTORY_LIMIT:           { retryable: false, severity: 'critical',   httpStatus: 413, exitCode: exitCodes.stopped,      origins: ['durable'] },
  STORAGE_NOT_FOUND:       { retryable: false, severity: 'fatal',      httpStatus: 404, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_CORRUPT:         { retryable: false, severity: 'fatal',      httpStatus: 500, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_LOCKED:          { retryable: true,  severity: 'critical',   httpStatus: 503, exitCode: exitCodes.inUse,        origins: ['storage'] },
  STORAGE_FULL:            { retryable: false, severity: 'critical',   httpStatus: 507, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_IO:              { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_READ_ONLY:       { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_LOST:            { retryable: false, severity: 'fatal',      httpStatus: 500, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_DIVERGED:        { retryable: false, severity: 'fatal',      httpStatus: 500, exitCode: exitCodes.storage,      origins: ['storage'] },
  STORAGE_NEWER_SCHEMA:    { retryable: false, severity: 'fatal',      httpStatus: 500, exitCode: exitCodes.storage,      origins: ['storage'] },
  ALREADY_REGISTERED:      { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: ['registry'] },
  NOT_REGISTERED:          { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: ['registry'] },
  CONFIG_ERROR:            { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.usage,        origins: ['config'] },
  CANCELLED:               { retryable: false, severity: 'critical',   httpStatus: 499, exitCode: exitCodes.cancelled,    origins: everywhere },
  INTERNAL:                { retryable: false, severity: 'fatal',      httpStatus: 500, exitCode: exitCodes.internal,     origins: ['agent'] },
  UNKNOWN:                 { retryable: false, severity: 'critical',   httpStatus: 500, exitCode: exitCodes.unknown,      origins: everywhere },
} as const satisfies Record<string, Traits>;

/** What happened, from the closed list. A `switch` over it can be exhaustive. */
export type FailureCode = keyof typeof failureTraits;

/** Where a code is explained, in the documentation that the package ships: `docs/errors.md#rate_limited`. */
export function docsOf(code: FailureCode): string {
  return `docs/errors.md#${code.toLowerCase()}`;
}

/** Every code, in the order of the table. */
export const failureCodes = Object.keys(failureTraits) as readonly FailureCode[]; // Object.keys loses the key type.
