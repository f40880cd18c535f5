// Table: what a person can do about every failure and every stop, with what to type for it.

import type { FailureCode } from '../../errors/codes.ts';
import type { Failure } from '../../errors/failure.ts';
import type { StopReason } from '../run-outcome.ts';

/** Something that a person can do now. */
export interface NextStep {
  /** One of `stepIds`, or the name of a command. */
  readonly id: string;
  /** What it is for. */
  readonly text: string;
  /** What to type: a call of the API, or a command. Absent where it is done elsewhere. */
  readonly command?: string;
}

/** How commands are typed here. */
export interface StepTyping {
  readonly runId: string;
  /** Completes a command of the command line, such as `resume <run>`; calls of the API are given where it is left out. */
  readonly shell?: (words: string) => string;
}

/** What a run ended by. */
export interface StepsFor {
  readonly failure?: Failure | undefined;
  /** Where it was stopped. */
  readonly reason?: StopReason | undefined;
}

/** What can be done about an end, the best first. A stopped run is not resumed. */
export function stepsFor({ failure, reason }: StepsFor, typing: StepTyping): readonly NextStep[] {
  const byEnd: readonly StepId[] = reason === undefined ? ['resume'] : ['run-again'];
  const byCause: readonly StepId[] = reason === undefined ? byFailure(failure) : byReason[reason];
  const doubt: readonly StepId[] = isInDoubt(failure) ? ['look-outside'] : [];
  return [...new Set([...doubt, ...byCause, ...byEnd, 'read-events' as const])].map((id) =>
    stepOf(id, failure, typing),
  );
}

/** The text of a step, for callers that type it in another way. */
export function stepText(id: StepId): string {
  return steps[id].text;
}

function byFailure(failure: Failure | undefined): readonly StepId[] {
  return failure === undefined ? [] : byCode[failure.code];
}

function isInDoubt(failure: Failure | undefined): boolean {
  return failure?.sideEffect === 'possible' || failure?.code === 'UNKNOWN_OUTCOME';
}

function stepOf(id: StepId, failure: Failure | undefined, typing: StepTyping): NextStep {
  const { text, call, shell }: Step = steps[id];
  const name = JSON.stringify(typing.runId);
  const limit = failure?.context['limit'];
  const called = call?.replaceAll('<run>', name).replaceAll('<limit>', isName(limit) ? limit : 'maxTurns');
  const command = typing.shell === undefined ? called : shell && typing.shell(shell);
  return command === undefined ? { id, text } : { id, text, command };
}

function isName(limit: unknown): limit is string {
  return typeof limit === 'string' && /^[a-zA-Z]{1,40}$/.test(limit);
}

interface Step {
  readonly text: string;
  /** In a program. `<run>` and `<limit>` are filled in. */
  readonly call?: string;
  /** On the command line. `<run>` is filled in by the caller. */
  readonly shell?: string;
}

// prettier-ignore
const steps = {
  resume:          { text: 'resume after the last finished turn, once the cause is fixed', call: 'await agent.resume(<run>)', shell: 'resume <run>' },
  wait:            { text: 'wait until the provider works again, then resume', call: 'await agent.resume(<run>)', shell: 'resume <run>' },
  'switch-model':  { text: 'ask another model, alone or before this one in the chain', call: 'createAgent({ model: [first, another], … })', shell: 'resume <run> --model <provider>:<model>' },
  'add-credit':    { text: 'add credit to the account of the provider, or raise its limit there, then resume' },
  'fix-key':       { text: 'set a key that the provider accepts, then resume', shell: 'doctor' },
  'allow-access':  { text: 'give the key or the user of this program the right that is missing' },
  'fix-model-name': { text: 'correct the name of the model, or its provider', shell: 'doctor' },
  'check-network': { text: 'check the connection, the proxy and the address of the provider', shell: 'doctor' },
  'shorten-input': { text: 'ask for less at once, or let the conversation be made shorter', call: 'createAgent({ context: { budget: { maxTokens: 100_000 } }, … })' },
  rephrase:        { text: 'ask in other words, or for something else' },
  'raise-limit':   { text: 'allow more, if it is worth it', call: 'createAgent({ limits: { <limit>: … }, … })' },
  'more-time':     { text: 'allow more time, or ask for less at once', call: 'createAgent({ limits: { timeoutMs: … }, … })' },
  'fix-tool':      { text: 'fix the tool or what it depends on, then resume' },
  'fix-schema':    { text: 'make the schema of the answer simpler, or describe more clearly what you want' },
  'fix-request':   { text: 'correct what was asked for: the message says what the other side did not take' },
  'look-outside':  { text: 'check outside whether the last act took effect, before it is repeated' },
  approve:         { text: 'allow the call by a rule, if it should be allowed', call: "createAgent({ policy: { permissions: [{ tool: '…', permission: 'allow' }] }, … })" },
  'change-rule':   { text: 'ask for what the rule allows, or change the rule' },
  'fix-hook':      { text: 'fix the hook, then resume' },
  'fix-sandbox':   { text: 'see what the machine can do for a sandbox', shell: 'doctor' },
  'fix-store':     { text: 'repair the store of the runs: disk space, file rights, the file itself', shell: 'doctor' },
  'fix-engine':    { text: 'see that the engine and a worker of this agent are up and reach each other, then resume' },
  'fix-flow':      { text: 'correct the definition of the flow or plan: the message names the place' },
  'fix-config':    { text: 'correct the configuration: the message names the field', shell: 'doctor' },
  'use-same-code': { text: 'resume with the code that started the run', call: 'await agent.resume(<run>)', shell: 'resume <run>' },
  'report-defect': { text: 'report it as a defect of this program, with the developer report' },
  'run-again':     { text: 'ask again, for less or with more room', call: "await agent.run([...outcome.messages, { role: 'user', content: '…' }])", shell: 'run --help' },
  'read-events':   { text: 'read what happened, step by step', shell: 'show <run> --events' },
} as const satisfies Readonly<Record<string, Step>>;

/** What a step is called. */
export type StepId = keyof typeof steps;

/** Every step there is. */
export const stepIds = Object.keys(steps) as readonly StepId[]; // Object.keys loses the key type.

// prettier-ignore
const byCode = {
  PROVIDER_NOT_CONFIGURED: ['fix-key', 'switch-model'],
  PROVIDER_NOT_SUPPORTED: ['fix-model-name', 'switch-model'],
  AUTHENTICATION_ERROR: ['fix-key', 'switch-model'],
  PERMISSION_DENIED: ['allow-access', 'approve'],
  MODEL_NOT_FOUND: ['fix-model-name', 'switch-model'],
  MODEL_LOADING: ['wait', 'switch-model'],
  RATE_LIMITED: ['wait', 'switch-model'],
  QUOTA_EXCEEDED: ['add-credit', 'switch-model'],
  OVERLOADED: ['wait', 'switch-model'],
  SERVER_ERROR: ['wait', 'switch-model'],
  NETWORK_ERROR: ['check-network', 'switch-model'],
  TIMEOUT: ['wait', 'more-time', 'check-network'],
  CONTEXT_LENGTH_EXCEEDED: ['shorten-input', 'switch-model'],
  REQUEST_TOO_LARGE: ['shorten-input'],
  CONTENT_FILTERED: ['rephrase', 'switch-model'],
  INVALID_REQUEST: ['fix-request', 'switch-model'],
  INVALID_RESPONSE: ['check-network', 'switch-model'],
  EMPTY_RESPONSE: ['rephrase', 'switch-model'],
  OUTPUT_TRUNCATED: ['shorten-input', 'switch-model'],
  STREAM_INTERRUPTED: ['check-network', 'switch-model'],
  TOOL_CALL_INVALID: ['switch-model', 'rephrase'],
  TOOL_EXECUTION_ERROR: ['fix-tool'],
  TOOL_NOT_FOUND: ['rephrase', 'switch-model'],
  UNKNOWN_OUTCOME: ['look-outside'],
  VALIDATION_ERROR: ['fix-tool', 'rephrase'],
  SERIALIZATION_ERROR: ['fix-tool'],
  IO_ERROR: ['fix-tool'],
  NOT_FOUND: ['rephrase', 'fix-tool'],
  PATH_OUTSIDE_WORKSPACE: ['rephrase'],
  SANDBOX_SETUP_FAILED: ['fix-sandbox'],
  SANDBOX_EXECUTION_FAILED: ['fix-sandbox', 'fix-tool'],
  OUTPUT_PARSE_ERROR: ['fix-schema', 'switch-model'],
  COMPACTION_FAILED: ['shorten-input', 'switch-model'],
  MAX_ITERATIONS_EXCEEDED: ['raise-limit', 'rephrase'],
  BUDGET_EXCEEDED: ['raise-limit', 'shorten-input'],
  ENDLESS_LOOP: ['rephrase', 'switch-model'],
  INVALID_STATE: ['use-same-code'],
  HOOK_FAILED: ['fix-hook'],
  HOOK_TERMINATED: ['change-rule'],
  ACTIVITY_FAILED: ['fix-engine', 'look-outside'],
  SIGNAL_TIMEOUT: ['fix-engine'],
  HISTORY_LIMIT: ['shorten-input'],
  STORAGE_NOT_FOUND: ['fix-store'],
  STORAGE_CORRUPT: ['fix-store'],
  STORAGE_LOCKED: ['wait', 'fix-store'],
  STORAGE_FULL: ['fix-store'],
  STORAGE_IO: ['fix-store'],
  STORAGE_READ_ONLY: ['fix-store'],
  STORAGE_LOST: ['fix-store'],
  STORAGE_DIVERGED: ['fix-store'],
  STORAGE_NEWER_SCHEMA: ['fix-store'],
  ALREADY_REGISTERED: ['fix-config'],
  NOT_REGISTERED: ['fix-config'],
  CONFIG_ERROR: ['fix-config'],
  FLOW_INVALID: ['fix-flow'],
  FLOW_CYCLE: ['fix-flow'],
  MAX_HANDOFFS_EXCEEDED: ['raise-limit', 'fix-flow'],
  PLAN_INVALID: ['rephrase', 'switch-model'],
  REPLAN_LIMIT: ['raise-limit', 'rephrase'],
  INITIALIZATION_ERROR: ['fix-config'],
  CANCELLED: [],
  INTERNAL: ['report-defect'],
  UNKNOWN: [],
} as const satisfies Readonly<Record<FailureCode, readonly StepId[]>>;

const byReason = {
  'max-turns': ['raise-limit', 'rephrase'],
  budget: ['raise-limit', 'shorten-input'],
  deadline: ['more-time', 'rephrase'],
  loop: ['rephrase', 'switch-model'],
  rejected: ['rephrase', 'approve'],
  guardrail: ['change-rule'],
  refused: ['rephrase', 'switch-model'],
} as const satisfies Readonly<Record<StopReason, readonly StepId[]>>;
