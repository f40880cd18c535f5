import type { RunLimits } from '../../agent/limits.ts';
import { decidePermission } from '../../agent/approval/permission.ts';
import type { PermissionRule } from '../../agent/approval/permission.ts';
import { matchesGlob } from '../../base/glob.ts';
import { isRecord } from '../../base/json.ts';
import type { Model } from '../../model/model.ts';
import type { Tool } from '../../model/tool.ts';
import { isTrustedCall } from '../../model/trusted-calls.ts';
import type { RetryPolicy } from '../../resilience/retry-policy.ts';

/** Something in a configuration that will hurt one day. */
export interface ConfigWarning {
  readonly type:
    | 'nested-retry'
    | 'missing-timeout'
    | 'unsafe-tool'
    | 'short-deadline'
    | 'no-fallback'
    | 'shared-outage'
    | 'unbounded-requests';
  /** What it is, without a full stop. */
  readonly text: string;
  readonly advice: string;
}

/** A configuration with its defaults filled in. */
export interface ResolvedConfig {
  readonly models: readonly Model[];
  readonly tools: readonly Tool[];
  readonly permissions: readonly PermissionRule[];
  readonly limits: RunLimits;
  readonly policy: RetryPolicy;
  /** The longest that one attempt may take. */
  readonly attemptMs: number;
}

/** Everything that is worth a word, without running anything. */
export function findWarnings(config: ResolvedConfig): readonly ConfigWarning[] {
  return [
    ...config.models.flatMap(retryingModel),
    ...config.tools.flatMap((tool) => [
      ...retryingTool(tool),
      ...endlessTool(tool, config.limits),
      ...unsafeTool(tool, config.permissions),
    ]),
    ...shortDeadline(config),
    ...weakChain(config.models),
    ...unbounded(config),
  ];
}

/** What libraries call it. */
const retryFields = [
  'maxRetries',
  'max_retries',
  'retries',
  'maxAttempts',
  'retryAttempts',
  'numRetries',
] as const;
const retryWords =
  /\b(?:p-?retry|async-?retry|axios-?retry|retryAsync|withRetry|withRetries|backOff|exponentialBackoff|maxRetries|retryOptions)\b/i;

/** Our own models never retry; of others only what can be seen is known. */
function retryingModel(model: Model): readonly ConfigWarning[] {
  if (isTrustedCall(model.call)) return [];
  const field = retryField(model);
  if (field === undefined && !retryWords.test(String(model.call))) return [];
  const what = field === undefined ? 'its code speaks of retries' : `it has ${field}`;
  return [
    {
      type: 'nested-retry',
      text: `The model ${model.provider}:${model.name} seems to retry by itself: ${what}`,
      advice: 'Switch that off, as with maxRetries: 0. Rerail retries already, and the two multiply.',
    },
  ];
}

function retryField(value: object): string | undefined {
  const found = retryFields.find((name) => {
    const given: unknown = isRecord(value) ? value[name] : undefined;
    return typeof given === 'number' && given > (name.endsWith('ttempts') ? 1 : 0);
  });
  return found === undefined ? undefined : `"${found}"`;
}

/** A call that may have happened could be repeated without that knowledge. */
function retryingTool(tool: Tool): readonly ConfigWarning[] {
  if (tool.effect !== 'once') return [];
  const field = retryField(tool);
  if (field === undefined && !retryWords.test(String(tool.execute))) return [];
  return [
    {
      type: 'nested-retry',
      text: `The tool "${tool.name}" has the effect "once" and seems to retry by itself`,
      advice:
        'Take the retry out, or make it safe to repeat and declare it "idempotent": then Rerail retries it.',
    },
  ];
}

function endlessTool({ name, timeoutMs }: Tool, limits: RunLimits): readonly ConfigWarning[] {
  if (timeoutMs > 0 && timeoutMs < limits.timeoutMs) return [];
  const text =
    timeoutMs > 0 && Number.isFinite(timeoutMs)
      ? `The tool "${name}" may take ${timeoutMs} ms, as long as the whole run (limits.timeoutMs, ${limits.timeoutMs} ms)`
      : `The tool "${name}" has no timeout`;
  return [{ type: 'missing-timeout', text, advice: 'Set its "timeoutMs" to what it may take at most.' }];
}

/** The rules without conditions are certain; of the others a pattern over a text is known to be too wide. */
function unsafeTool(tool: Tool, rules: readonly PermissionRule[]): readonly ConfigWarning[] {
  if (tool.effect !== 'once') return [];
  const certain = rules.filter(({ input }) => input === undefined);
  if (decidePermission(tool, {}, certain).permission === 'allow') {
    return [
      {
        type: 'unsafe-tool',
        text: `The tool "${tool.name}" has the effect "once" and runs without anybody being asked`,
        advice: `Add the rule { tool: "${tool.name}", permission: "ask" }, or say by "input" which calls are harmless.`,
      },
    ];
  }
  const wide = rules.some((rule) => rule.permission === 'allow' && isAbout(rule, tool) && hasPattern(rule));
  if (!wide) return [];
  return [
    {
      type: 'unsafe-tool',
      text: `A rule allows "${tool.name}", which has the effect "once", by a pattern ("matches")`,
      advice:
        'A pattern knows no commands: "git *" also fits "git status; rm -rf .". For commands write { runs: ["git status"] }.',
    },
  ];
}

function isAbout({ tool }: PermissionRule, { name }: Tool): boolean {
  if (tool === undefined) return true;
  return (typeof tool === 'string' ? [tool] : tool).some((glob) => matchesGlob(name, glob));
}

function hasPattern({ input }: PermissionRule): boolean {
  return Object.values(input ?? {}).some((condition) => isRecord(condition) && 'matches' in condition);
}

function shortDeadline({ policy, attemptMs, limits }: ResolvedConfig): readonly ConfigWarning[] {
  const bounds = [
    { name: 'retry.deadlineMs', valueMs: policy.deadlineMs },
    { name: 'limits.timeoutMs', valueMs: limits.timeoutMs },
  ];
  return bounds
    .filter(({ valueMs }) => valueMs < attemptMs)
    .map(({ name, valueMs }) => ({
      type: 'short-deadline',
      text: `${name} is ${valueMs} ms, shorter than one attempt may take (${attemptMs} ms): a slow answer is cut off and never tried again`,
      advice: `Raise ${name}, or lower limits.modelTimeoutMs.`,
    }));
}

function weakChain(models: readonly Model[]): readonly ConfigWarning[] {
  const [first] = models;
  // The embedded model has nothing to fail.
  if (first === undefined || (models.length === 1 && first.provider === 'simulated')) return [];
  if (models.length === 1) {
    return [
      {
        type: 'no-fallback',
        text: `There is no other model than ${first.provider}:${first.name}: while its provider is down, every run waits`,
        advice: 'Name a second one of another provider.',
      },
    ];
  }
  if (models.some(({ quotaKey }) => quotaKey !== first.quotaKey)) return [];
  return [
    {
      type: 'shared-outage',
      text: `All ${models.length} models are behind the same provider and key, and fail together`,
      advice: 'Name one of another provider.',
    },
  ];
}

function unbounded({ policy, limits }: ResolvedConfig): readonly ConfigWarning[] {
  const isBounded =
    policy.maxAttempts !== Infinity || limits.maxRequests !== Infinity || limits.maxCostUsd !== Infinity;
  if (isBounded) return [];
  return [
    {
      type: 'unbounded-requests',
      text: `Retries have no number, only the deadline of ${policy.deadlineMs} ms, and neither requests nor cost have a bound`,
      advice: 'Set limits.maxRequests or limits.maxCostUsd.',
    },
  ];
}
