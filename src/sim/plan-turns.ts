import type { Feature } from './crash-points.ts';
import type { Draw } from './draw.ts';
import type { ModelFault, PlannedCall, PlannedTurn, SimToolName } from './plan.ts';

const toolOf = { read: 'look', idempotent: 'put', once: 'send', verified: 'pay', ask: 'wire' } as const;
const toolFeatures = ['read', 'idempotent', 'once', 'verified', 'ask'] as const;

/** What a model does, turn by turn, so that all that the features promise happens. `prefix` makes its calls its own. */
export function planTurns(draw: Draw, features: ReadonlySet<Feature>, prefix = ''): readonly PlannedTurn[] {
  const wanted = toolFeatures.filter((feature) => features.has(feature)).map((feature) => toolOf[feature]);
  const turns: PlannedTurn[] = [];
  // Several calls stand in one turn, or one after the other.
  while (wanted.length > 0) {
    const names = wanted.splice(0, draw.pick([1, 1, 2, 3]));
    const calls = names.map((name, index) =>
      planCall(draw, features, { turn: turns.length, index, name, prefix }),
    );
    turns.push({ faults: planFaults(draw, features), delayMs: draw.pick([0, 0, 300]), calls });
  }
  const last: PlannedTurn = {
    faults: planFaults(draw, features),
    delayMs: draw.pick([0, 0, 300]),
    calls: [],
  };
  return withNeeded([...turns, last], features, draw);
}

interface Place {
  readonly turn: number;
  readonly index: number;
  readonly name: SimToolName;
  readonly prefix: string;
}

function planCall(draw: Draw, features: ReadonlySet<Feature>, place: Place): PlannedCall {
  const { turn, index, name, prefix } = place;
  const isFirst = turn === 0 && index === 0;
  return {
    callId: `${prefix}t${turn}c${index}`,
    tool: name,
    failures: draw.pick([0, 0, 0, 0, 1, 2]),
    delayMs: features.has('slow') && isFirst ? 12_000 : draw.pick([0, 0, 0, 400]),
    hangs: features.has('hang') && (name === 'pay' || draw.happens(0.3)),
    isApproved: draw.happens(0.75),
    isObscure: draw.happens(0.1),
  };
}

function planFaults(draw: Draw, features: ReadonlySet<Feature>): readonly ModelFault[] {
  if (!features.has('retry') || draw.happens(0.5)) return [];
  const faults: ModelFault[] = ['rate-limited', 'overloaded', 'broken-stream'];
  return Array.from({ length: draw.pick([1, 1, 2]) }, () => draw.pick(faults));
}

/** What a feature promises surely happens somewhere. */
function withNeeded(
  turns: readonly PlannedTurn[],
  features: ReadonlySet<Feature>,
  draw: Draw,
): readonly PlannedTurn[] {
  const at = Math.floor(draw.pick([0, 0.5, 0.99]) * turns.length);
  const added: ModelFault[] = [];
  if (features.has('retry')) added.push('rate-limited');
  if (features.has('long-wait')) added.push('long-wait');
  if (features.has('failure'))
    added.push('overloaded', 'overloaded', 'overloaded', 'overloaded', 'overloaded');
  if (added.length === 0) return turns;
  return turns.map((turn, index) => (index === at ? { ...turn, faults: [...turn.faults, ...added] } : turn));
}
