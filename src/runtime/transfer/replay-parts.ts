import type { HookPoint } from '../../agent/hooks/hook.ts';
import type { PermissionRules } from '../../agent/approval/permission.ts';
import type { RunConfig } from '../../agent/config.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { readSchema } from '../../model/schema/schema.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { JournalEntry } from '../record/journal.ts';
import { at } from '../record/run-blobs.ts';

/** What the parts are made of. */
export interface RecordedParts {
  readonly config: RunConfig;
  /** The facts of the agent, as they stand in the record. */
  readonly facts: unknown;
  /** What the journal holds where the driver's next verb would stand. */
  readonly nextEntry: () => JournalEntry | undefined;
}

/**
 * An agent as far as the driver asks for it, from what is on record: no model, no tool, no function of anybody. What the journal
 * holds at the very place decides; beyond its end, the facts do.
 */
export function createReplayParts({ config, facts, nextEntry }: RecordedParts): AgentParts {
  const driver = at(facts, ['driver']);
  const points = at(driver, ['hooks']);
  const hasApprove = at(driver, ['hasApprove']) === true;
  const rules = at(driver, ['rules']);
  const schema = at(driver, ['outputSchema']);
  const parts = {
    name: config.agent,
    config,
    // What a flow decided is on record; only that something decides in the place of a model is asked.
    conductor: config.isConducted === true ? {} : undefined,
    instructions: '',
    hooks: {
      has: (point: HookPoint) => {
        const entry = nextEntry();
        if (entry === undefined) return Array.isArray(points) && points.includes(point);
        return isCallOf(entry, 'hook') && at(entry, ['input', 'point']) === point;
      },
    },
    registry: {
      get: (name: string) => {
        const own = Object.hasOwn(config.tools, name) ? config.tools[name] : undefined;
        return own === undefined ? undefined : { permission: own.permission, timeoutMs: 0 };
      },
      without: () => [],
    },
    rules: (Array.isArray(rules) || isRecord(rules) ? rules : []) as PermissionRules, // As the agent wrote them down.
    output: isRecord(schema) ? readSchema(schema, 'the output on record') : undefined,
    get context() {
      const entry = nextEntry();
      if (entry === undefined) return contextIn(at(driver, ['context']));
      return isCallOf(entry, 'compact') ? exceeded : unbounded;
    },
    // Where the journal continues, that says whether it was asked.
    selectModel: at(driver, ['selectsModel']) === true ? () => undefined : undefined,
    get approve() {
      const entry = nextEntry();
      const isAsked = entry === undefined ? hasApprove : isCallOf(entry, 'ask');
      return isAsked ? () => undefined : undefined;
    },
    clock: { wallMs: () => 0, monotonicMs: () => 0, after: () => () => undefined },
  };
  // The driver asks for nothing else: whatever touches the world is an effect, and effects are answered from the journal.
  return parts as unknown as AgentParts;
}

// Redacted texts have other lengths: whether they were too long is said by what was done about it.
const unbounded = { budget: undefined, fixedTokens: () => 0 };
const exceeded = { budget: { maxTokens: 0, reserveTokens: 0 }, fixedTokens: () => 1 };

function contextIn(context: unknown): object {
  if (!isRecord(context)) return unbounded;
  const tokens = context['fixedTokens'];
  return { ...context, fixedTokens: () => (typeof tokens === 'number' ? tokens : 0) };
}

function isCallOf(entry: JournalEntry, effect: string): boolean {
  return entry.type === 'call' && entry.effect === effect;
}

/** The configuration that a generation begins with, where it is on record. */
export function configIn(input: Json): RunConfig | undefined {
  const config = at(input, ['config']) ?? at(input, ['state', 'config']);
  return isRecord(config) && isRecord(config['limits']) && isRecord(config['tools'])
    ? (config as unknown as RunConfig) // Written by the machine.
    : undefined;
}
