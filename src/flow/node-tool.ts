import type { ToolFacts } from '../agent/config.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { defineTool } from '../model/define-tool.ts';
import type { Permission, Schema, Tool, ToolEffect } from '../model/tool.ts';
import { resolveRetryPolicy } from '../resilience/retry-policy.ts';
import type { RetryOption } from '../resilience/retry-policy.ts';
import { flowError } from './flow-error.ts';

/** A year: the run that the call is has its own deadline. */
const longestMs = 366 * 24 * 3_600_000;

interface NodeToolOptions {
  readonly name: string;
  readonly description?: string;
  readonly input?: Schema;
  readonly timeoutMs?: number | undefined;
  readonly permission?: Permission;
  /** `idempotent` where nothing else is said: the run that the call is may change something. */
  readonly effect?: ToolEffect;
}

/** The tool by which a node is called. It is the node that works: the function of the tool is never reached. */
export function nodeTool(options: NodeToolOptions): Tool {
  const { name, description, input, timeoutMs, permission, effect = 'idempotent' } = options;
  return defineTool({
    name,
    description: description ?? `The node "${name}".`,
    input: input ?? { type: 'object' },
    effect,
    timeoutMs: timeoutMs ?? longestMs,
    permission: permission ?? 'allow',
    repeats: 'any',
    execute: () => {
      throw new Error(`"${name}" is a node: nothing calls it as a function`);
    },
  });
}

/** A node is continued after a failure only where a person says so. Throws a `FlowError` that names the node. */
export function nodeFacts(retry: RetryOption | undefined, name = ''): Pick<ToolFacts, 'retry' | 'isNode'> {
  try {
    return { retry: resolveRetryPolicy(retry ?? 'none'), isNode: true };
  } catch (error) {
    if (!RerailError.isInstance(error)) throw error;
    const message = `"retry" of the node "${name}" cannot be used: ${error.failure.message}`;
    throw flowError(message, { hint: error.failure.hint, context: { node: name } });
  }
}
