import type { Feature } from './crash-points.ts';
import type { Draw } from './draw.ts';
import type { Pass, PlannedCall, PlannedTurn } from './plan.ts';
import { planTurns } from './plan-turns.ts';

/** Somebody who does the work, or a part of it. */
export type PlannedMember =
  | Scripted
  | PlannedSteps
  | {
      readonly type: 'flow';
      readonly name: string;
      readonly shape: string;
      readonly members: Members;
      readonly retry: boolean;
    }
  /** The scripts are the lead's. */
  | (Scripts & { readonly type: 'team'; readonly name: string; readonly members: Members })
  | {
      readonly type: 'hand-off';
      readonly name: string;
      readonly members: readonly Scripted[];
      readonly start: string;
    };

/** A plan: its steps in order; where one of them fails, what is done in its place. */
interface PlannedSteps extends Scripts {
  readonly type: 'plan';
  readonly name: string;
  readonly steps: readonly PlannedCall[];
  readonly other: PlannedCall | undefined;
  readonly approvePlan: boolean;
}

/** One agent. */
export interface Scripted extends Scripts {
  readonly type: 'agent';
  readonly name: string;
}

/** What the model of an agent does, by the number of the job, or of the hand-offs that the conversation has seen. */
interface Scripts {
  readonly scripts: Readonly<Record<number, readonly PlannedTurn[]>>;
}

type Members = readonly PlannedMember[];

/** What a member is asked in a job of a team. */
function writeJob(number: number): string {
  return `Do job ${number}.`;
}

/** The number of the job, or of the hand-offs: what the conversation says of it. */
export function readScriptNumber(texts: readonly string[]): number {
  const handOffs = texts.filter((text) => text.startsWith(passedOn)).length;
  return handOffs > 0 ? handOffs : Number(/Do job (\d+)\./.exec(texts[0] ?? '')?.[1] ?? 0);
}

/** What a conversation says where it was passed on. */
export const passedOn = 'The conversation was passed to you by';

/** Several agents: side by side, one after the other, as a team, or passing a conversation on. */
export function planFamily(draw: Draw, features: ReadonlySet<Feature>): PlannedMember {
  const kind = kinds.find((each) => features.has(each)) ?? draw.pick(kinds);
  return planUnit({ draw, features, depth: 0, isNeeded: true }, kind, 'sim');
}

const kinds = ['flow', 'team', 'hand-off', 'plan'] as const;
type Kind = (typeof kinds)[number];

interface Planning {
  readonly draw: Draw;
  readonly features: ReadonlySet<Feature>;
  readonly depth: number;
  /** What the features promise must happen here. */
  readonly isNeeded: boolean;
}

function planUnit(planning: Planning, kind: Kind, name: string): PlannedMember {
  if (kind === 'flow') return planFlow(planning, name);
  if (kind === 'plan') return planSteps(planning, name);
  return kind === 'team' ? planTeam(planning, name) : planHandOff(planning, name);
}

const shapes: readonly (readonly [string, number])[] = [
  ['0 >> 1', 2],
  ['0 | 1', 2],
  ['0 >> (1 | 2)', 3],
  ['(0 | 1) >> 2', 3],
  ['0 | 1 | 2', 3],
  ['0 >> (1 | 2) >> 3', 4],
];

function planFlow(planning: Planning, name: string): PlannedMember {
  const { draw, depth } = planning;
  const [shape, count] = draw.pick(depth === 0 ? shapes : shapes.slice(0, 2));
  const members = planMembers(planning, name, count);
  const named = shape.replaceAll(/\d/g, (index) => members[Number(index)]?.name ?? index);
  return { type: 'flow', name, shape: named, members, retry: draw.happens(0.2) };
}

function planTeam(planning: Planning, name: string): PlannedMember {
  const { draw, features } = planning;
  const members = planMembers(planning, name, draw.pick([1, 2, 2, 3]));
  // The first member may have two jobs at a time.
  const doubled = draw.happens(0.3) ? members.slice(0, 1).filter(({ type }) => type === 'agent') : [];
  const jobs = [
    ...members.map((member) => ({ member, number: 0 })),
    ...doubled.map((member) => ({ member, number: 1 })),
  ];
  const passes = jobs.map(({ member, number }, index): Pass => ({
    callId: `${name}.job${index}`,
    name: member.name,
    arguments: { task: writeJob(number) },
  }));
  const own = planTurns(draw, someOf(draw, features), `${name}.`);
  const first: PlannedTurn = { faults: [], delayMs: 0, calls: [], passes };
  const scripts = { 0: draw.happens(0.5) ? [first, ...own] : [...own.slice(0, -1), first, ...own.slice(-1)] };
  return { type: 'team', name, scripts, members: members.map((member) => withSecondJob(planning, member)) };
}

/** A second job has calls of its own. */
function withSecondJob({ draw, features }: Planning, member: PlannedMember): PlannedMember {
  if (member.type !== 'agent') return member;
  const second = planTurns(draw, someOf(draw, features), `${member.name}.1.`);
  return { ...member, scripts: { ...member.scripts, 1: second } };
}

function planHandOff(planning: Planning, name: string): PlannedMember {
  const { draw, features, isNeeded } = planning;
  const names = ['a', 'b', 'c'].map((each) => `${name}${each}`).slice(0, draw.pick([2, 2, 3]));
  const hops = draw.pick([1, 1, 2, 3]);
  const needed = draw.pick(Array.from({ length: hops + 1 }, (_, hop) => hop));
  const scripts = names.map((): Record<number, readonly PlannedTurn[]> => ({}));
  for (let hop = 0; hop <= hops; hop += 1) {
    const own = isNeeded && hop === needed ? features : someOf(draw, features);
    const turns = planTurns(draw, own, `${name}.${hop}.`);
    const to = names[(hop + 1) % names.length] ?? name;
    const script = scripts[hop % names.length];
    if (script !== undefined)
      script[hop] = hop === hops ? turns : [...turns.slice(0, -1), ...passOn(draw, to, `${name}.${hop}`)];
  }
  const members = names.map((each, index): Scripted => ({
    type: 'agent',
    name: each,
    scripts: scripts[index] ?? {},
  }));
  return { type: 'hand-off', name, members, start: names[0] ?? name };
}

/** What is denied or unknown would be planned anew for ever: people say yes to steps, and know what became of them. */
function planSteps({ draw, features }: Planning, name: string): PlannedMember {
  const turns = planTurns(draw, features, `${name}_`);
  const sound = { failures: 0, isApproved: true, isObscure: false } as const;
  const planned = turns.flatMap(({ calls }) => calls).map((call) => ({ ...call, ...sound }));
  const first: PlannedCall = { callId: `${name}_look`, tool: 'look', delayMs: 0, hangs: false, ...sound };
  const steps = [first, ...planned].slice(0, maxPlanSteps);
  const failing = features.has('retry') || draw.happens(0.5) ? draw.pick(steps.map((_, index) => index)) : -1;
  const other: PlannedCall = {
    ...first,
    callId: `${name}_other`,
    tool: draw.pick(['look', 'put', 'send'] as const),
  };
  return {
    type: 'plan',
    name,
    scripts: { 0: turns.slice(-1) },
    steps: steps.map((call, index) => (index === failing ? { ...call, failures: always } : call)),
    other: failing === -1 ? undefined : other,
    approvePlan: features.has('ask') && draw.happens(0.5),
  };
}

const maxPlanSteps = 4;
const always = 1000;

/** Sometimes to somebody whom nobody knows, first. */
function passOn(draw: Draw, to: string, prefix: string): readonly PlannedTurn[] {
  const names = draw.happens(0.15) ? ['nobody', to] : [to];
  return names.map((name, index): PlannedTurn => ({
    faults: [],
    delayMs: draw.pick([0, 0, 300]),
    calls: [],
    passes: [
      { callId: `${prefix}.pass${index}`, name: 'hand_off', arguments: { to: name, reason: 'It is yours.' } },
    ],
  }));
}

const maxDepth = 1;

function planMembers(planning: Planning, name: string, count: number): Members {
  const { draw, features, depth, isNeeded } = planning;
  const needed = Math.floor(draw.pick([0, 0.5, 0.99]) * count);
  return Array.from({ length: count }, (_, index): PlannedMember => {
    const own = `${name}${'abcd'[index] ?? ''}`;
    const isHere = isNeeded && index === needed;
    const below: Planning = {
      draw,
      features: isHere ? features : someOf(draw, features),
      depth: depth + 1,
      isNeeded: isHere,
    };
    if (depth < maxDepth && draw.happens(0.12)) return planUnit(below, draw.pick(kinds), own);
    return { type: 'agent', name: own, scripts: { 0: planTurns(draw, below.features, `${own}.`) } };
  });
}

/** What one of several has of it. */
function someOf(draw: Draw, features: ReadonlySet<Feature>): ReadonlySet<Feature> {
  const own = new Set<Feature>([...features].filter(() => draw.happens(0.3)));
  for (const feature of ['read', 'idempotent', 'once', 'ask'] as const)
    if (draw.happens(0.1)) own.add(feature);
  return own;
}
