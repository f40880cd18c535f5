import type { HookPoint } from '../../agent/hooks/hook.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { assert } from '../../base/assert.ts';
import type { AgentParts } from '../../runtime/agent-parts.ts';
import type { DurableProgram } from '../../runtime/record/durable.ts';
import { createHostedProgram } from '../../runtime/hosted/hosted-program.ts';
import { ownInput } from '../../runtime/hosted/moved-run.ts';
import { configIn, createReplayParts } from '../../runtime/transfer/replay-parts.ts';
import { at } from '../../runtime/record/run-blobs.ts';

/**
 * The driver of every agent, as it runs in Temporal's sandbox: with what is in the workflow's input about the agent, and without
 * any function of it. Whatever touches the world is an effect, and stays in the worker.
 */
export function agentProgram(facts: Json): DurableProgram {
  return (durable, input) => {
    const config = configIn(ownInput(input));
    assert(config !== undefined, `Run "${durable.runId}" does not say how its agent is configured`);
    const parts = sandboxParts(createReplayParts({ config, facts, nextEntry: () => undefined }), facts);
    const program = createHostedProgram({
      parts,
      resolveWith: () => parts,
      runs: new Map(),
      callers: new Map(),
      carried: new Set(),
      isOpen: false,
      engine: () => Promise.reject(new Error('There is no engine inside the workflow')),
    });
    return program(durable, input);
  };
}

/** Points at which the driver itself asks; at the others observers are only informed, and that is done in the worker. */
const askedPoints: ReadonlySet<HookPoint> = new Set([
  'run-start',
  'before-model',
  'after-model',
  'before-tool',
  'after-tool',
  'approval',
]);

function sandboxParts(recorded: AgentParts, facts: Json): AgentParts {
  const { hooks, registry } = recorded;
  const timeouts = at(facts, ['toolTimeoutsMs']);
  const timeoutOf = (name: string): number => {
    const timeoutMs: unknown =
      isRecord(timeouts) && Object.hasOwn(timeouts, name) ? timeouts[name] : undefined;
    return typeof timeoutMs === 'number' ? timeoutMs : 0;
  };
  const parts = {
    ...recorded,
    hooks: { has: (point: HookPoint) => askedPoints.has(point) && hooks.has(point), hearsEvents: false },
    registry: {
      ...registry,
      get: (name: string) => {
        const tool = registry.get(name);
        return tool === undefined ? undefined : { ...tool, timeoutMs: timeoutOf(name) };
      },
    },
  };
  return parts as unknown as AgentParts; // The driver asks for nothing else: see `createReplayParts`.
}
