import type { Random } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { crashPoints, familyPoints, featuresFor } from './crash-points.ts';
import type { CrashPoint, Feature } from './crash-points.ts';
import { createDraw } from './draw.ts';
import type { Draw } from './draw.ts';
import { planFamily } from './plan-family.ts';
import type { PlannedMember } from './plan-family.ts';
import { planTurns } from './plan-turns.ts';

/** Everything that a seed decides beforehand. */
export interface Plan {
  readonly seed: number;
  readonly runId: string;
  readonly features: ReadonlySet<Feature>;
  /** Who does it: one agent, or several. */
  readonly top: PlannedMember;
  /** All calls of tools, by their ids. */
  readonly calls: ReadonlyMap<string, PlannedCall>;
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
  /** Other runs have used the tools before, in every process. */
  readonly isPractised: boolean;
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
  /** What is given to another agent. */
  readonly passes?: readonly Pass[];
}

/** A call by which an agent gives work, or the conversation, to another one. */
export interface Pass {
  readonly callId: string;
  readonly name: string;
  readonly arguments: Json;
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
  const point = focusOf(seed);
  const features = new Set<Feature>(featuresFor(point));
  for (const [feature, share] of Object.entries(shares)) {
    if (draw.happens(share)) features.add(feature as Feature); // The keys of the table.
  }
  const isWild = features.has('crashes');
  const top: PlannedMember = isFamily(seed)
    ? planFamily(draw, features)
    : { type: 'agent', name: 'sim', scripts: { 0: planTurns(draw, features) } };
  return {
    seed,
    runId: `sim-${seed}`,
    features,
    top,
    calls: new Map(callsOf(top).map((call) => [call.callId, call])),
    focus: { point, visit: draw.pick([1, 1, 1, 2, 3]) },
    crashShare: isWild ? 0.06 : 0.004,
    maxCrashes: isWild ? 4 : 2,
    faultShare: draw.happens(0.2) ? 0.06 : 0,
    maxFaults: 3,
    isDeathSeen: draw.happens(0.8),
    isPractised: seed % 3 !== 0,
    models: draw.pick([1, 1, 1, 2]),
    maxTurns: draw.happens(0.03) ? 1 : 20,
    inDoubt: draw.pick(['ask', 'ask', 'tell'] as const),
    goesOnAfterFailure: features.has('failure') || draw.happens(0.5),
    sendings: planSendings(draw, features),
    random,
  };
}

/** One seed of so many is about several agents: they take longer than one. */
const familyEvery = 6;

function isFamily(seed: number): boolean {
  return seed % familyEvery === familyEvery - 1;
}

/** Every point has its turn; those of families share their seeds with the others. */
function focusOf(seed: number): CrashPoint {
  const families = Math.floor(seed / familyEvery);
  const isOwn = isFamily(seed) && families % 2 === 0;
  const points = isOwn ? familyPoints : singlePoints;
  const nth = isFamily(seed) ? Math.floor(families / 2) : seed - families;
  return points[nth % points.length] ?? 'before create';
}

const singlePoints = crashPoints.filter((point) => !familyPoints.includes(point));

function callsOf(member: PlannedMember): readonly PlannedCall[] {
  if (member.type === 'plan')
    return member.other === undefined ? member.steps : [...member.steps, member.other];
  const own = 'scripts' in member ? Object.values(member.scripts).flatMap(callsIn) : [];
  const below = 'members' in member ? member.members.flatMap(callsOf) : [];
  return [...own, ...below];
}

function callsIn(turns: readonly PlannedTurn[]): readonly PlannedCall[] {
  return turns.flatMap(({ calls }) => calls);
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
  flow: 0,
  team: 0,
  'hand-off': 0,
  plan: 0,
};

function planSendings(draw: Draw, features: ReadonlySet<Feature>): readonly Sending[] {
  const sendings: Sending[] = [];
  for (const what of ['message', 'cancel'] as const) {
    if (!features.has(what)) continue;
    const isDead = features.has('crashes') && draw.happens(0.6);
    sendings.push({ what, when: isDead ? 'dead' : draw.pick(['model', 'tool'] as const) });
  }
  return sendings;
}
