import type { Random } from '../base/clock.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { crashPoints, featuresFor } from './crash-points.ts';
import type { CrashPoint, Feature } from './crash-points.ts';

/** Everything that a seed decides beforehand. */
export interface Plan {
  readonly seed: number;
  readonly runId: string;
  readonly features: ReadonlySet<Feature>;
  /** What the model does, turn by turn; the last one is its answer. */
  readonly turns: readonly PlannedTurn[];
  /** Where a process surely dies, at which of its visits. */
  readonly focus: { readonly point: CrashPoint; readonly visit: number };
  /** The share of all other points at which one dies too. */
  readonly crashShare: number;
  readonly maxCrashes: number;
  /** The share of the store's operations that fail. */
  readonly faultShare: number;
  readonly maxFaults: number;
  /** The store knows at once that a process is dead; else its leases must run out. */
  readonly isDeathSeen: boolean;
  readonly models: number;
  readonly maxTurns: number;
  readonly inDoubt: 'ask' | 'tell';
  readonly goesOnAfterFailure: boolean;
  readonly sendings: readonly Sending[];
  /** Drawn further, while the run goes on. */
  readonly random: Random;
}

export interface PlannedTurn {
  /** What comes in the place of an answer, one after the other. */
  readonly faults: readonly ModelFault[];
  readonly delayMs: number;
  /** None: the model answers. */
  readonly calls: readonly PlannedCall[];
}

export type ModelFault = 'rate-limited' | 'overloaded' | 'broken-stream' | 'long-wait';

export interface PlannedCall {
  readonly callId: string;
  readonly tool: SimToolName;
  /** How often it fails first. */
  readonly failures: number;
  readonly delayMs: number;
  /** It does its work and never says so. */
  readonly hangs: boolean;
  /** What a person says, where one is asked. */
  readonly isApproved: boolean;
  /** Nobody can find out whether it happened. */
  readonly isObscure: boolean;
}

/** What somebody sends to the run: while a model is asked, while a tool runs, or while nobody carries the run. */
export interface Sending {
  readonly what: 'message' | 'cancel';
  readonly when: 'model' | 'tool' | 'dead';
}

export type SimToolName = 'look' | 'put' | 'send' | 'pay' | 'wire';

/** How often one model is asked before the run gives it up. */
export const maxAttempts = 3;

/** The plan of a seed: the same one every time. */
export function planRun(seed: number): Plan {
  const random = seededRandom(seed);
  const draw = createDraw(random);
  const point = crashPoints[seed % crashPoints.length] ?? 'before create';
  const features = new Set<Feature>(featuresFor(point));
  for (const [feature, share] of Object.entries(shares)) {
    if (draw.happens(share)) features.add(feature as Feature); // The keys of the table.
  }
  const isWild = features.has('crashes');
  return {
    seed,
    runId: `sim-${seed}`,
    features,
    turns: planTurns(draw, features),
    focus: { point, visit: draw.pick([1, 1, 1, 2, 3]) },
    crashShare: isWild ? 0.06 : 0.004,
    maxCrashes: isWild ? 4 : 2,
    faultShare: draw.happens(0.2) ? 0.06 : 0,
    maxFaults: 3,
    isDeathSeen: draw.happens(0.8),
    models: draw.pick([1, 1, 1, 2]),
    maxTurns: draw.happens(0.03) ? 1 : 20,
    inDoubt: draw.pick(['ask', 'ask', 'tell'] as const),
    goesOnAfterFailure: features.has('failure') || draw.happens(0.5),
    sendings: planSendings(draw, features),
    random,
  };
}

const shares: Readonly<Record<Feature, number>> = {
  read: 0.15,
  idempotent: 0.15,
  once: 0.15,
  verified: 0.125,
  ask: 0.075,
  callback: 0.15,
  retry: 0.1,
  'long-wait': 0.03,
  failure: 0.025,
  slow: 0.03,
  hang: 0.04,
  message: 0.06,
  cancel: 0.025,
  session: 0.05,
  worker: 0.06,
  crashes: 0.06,
};

interface Draw {
  readonly happens: (share: number) => boolean;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

function createDraw(random: Random): Draw {
  return {
    happens: (share) => random() < share,
    pick: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number], // Never empty.
  };
}

const toolOf = { read: 'look', idempotent: 'put', once: 'send', verified: 'pay', ask: 'wire' } as const;
const toolFeatures = ['read', 'idempotent', 'once', 'verified', 'ask'] as const;

function planTurns(draw: Draw, features: ReadonlySet<Feature>): readonly PlannedTurn[] {
  const wanted = toolFeatures.filter((feature) => features.has(feature)).map((feature) => toolOf[feature]);
  const turns: PlannedTurn[] = [];
  // Several calls stand in one turn, or one after the other.
  while (wanted.length > 0) {
    const names = wanted.splice(0, draw.pick([1, 1, 2, 3]));
    const calls = names.map((name, index) => planCall(draw, features, { turn: turns.length, index, name }));
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
}

function planCall(draw: Draw, features: ReadonlySet<Feature>, { turn, index, name }: Place): PlannedCall {
  const isFirst = turn === 0 && index === 0;
  return {
    callId: `t${turn}c${index}`,
    tool: name,
    failures: draw.pick([0, 0, 0, 0, 1, 2]),
    delayMs: features.has('slow') && isFirst ? 12_000 : draw.pick([0, 0, 0, 400]),
    hangs: features.has('hang') && (name === 'pay' || draw.happens(0.3)),
    isApproved: draw.happens(0.75),
    isObscure: draw.happens(0.1),
  };
}

function planSendings(draw: Draw, features: ReadonlySet<Feature>): readonly Sending[] {
  const sendings: Sending[] = [];
  for (const what of ['message', 'cancel'] as const) {
    if (!features.has(what)) continue;
    const isDead = features.has('crashes') && draw.happens(0.6);
    sendings.push({ what, when: isDead ? 'dead' : draw.pick(['model', 'tool'] as const) });
  }
  return sendings;
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
