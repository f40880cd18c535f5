// Table: every step of a run at which a process can die, and what a scenario must have so that the step is taken.

/** What a scenario may have. */
export type Feature =
  | 'read'
  | 'idempotent'
  | 'once'
  | 'verified'
  | 'ask'
  /** Somebody in the process answers, instead of the run being suspended. */
  | 'callback'
  /** A model that fails and is asked again after a wait. */
  | 'retry'
  /** A model that asks for a wait that is too long for the process. */
  | 'long-wait'
  /** A model that fails until the run does; then somebody goes on with it. */
  | 'failure'
  /** A tool that takes longer than a lease needs to be renewed. */
  | 'slow'
  /** A tool that has done its work and never says so. */
  | 'hang'
  | 'message'
  | 'cancel'
  | 'session'
  /** A worker takes the runs up. */
  | 'worker'
  /** Several processes die. */
  | 'crashes'
  /** Several agents: one after the other and side by side, as tools of a lead, or passing a conversation on. */
  | 'flow'
  | 'team'
  | 'hand-off'
  /** Steps that a model plans; one of them may fail, so that it is planned anew. */
  | 'plan';

/** The steps. A process can die before each, and after it, when nobody has been told yet. */
const simSteps = {
  create: [],
  claim: ['crashes'],
  release: [],
  renew: ['slow', 'read'],
  session: ['session'],
  'append began': ['failure'],
  'append model': [],
  'append intend': ['once'],
  'append tool': ['read'],
  'append verify': ['verified', 'hang'],
  'append ask': ['ask', 'callback'],
  'append sleep': ['retry'],
  'append wake': ['retry'],
  'append answer': ['long-wait'],
  'append suspended': ['long-wait'],
  'append ended': [],
  'append taken-over': ['crashes'],
  'append cancelled': ['cancel'],
  'append parked': ['worker', 'crashes'],
  'signal resume': ['ask'],
  'signal message': ['message'],
  'signal cancel': ['cancel', 'crashes'],
  'model call': [],
  'read tool': ['read'],
  'idempotent tool': ['idempotent'],
  'once tool': ['once'],
  'verified tool': ['verified'],
  verify: ['verified', 'hang'],
  approval: ['ask', 'callback'],
} as const satisfies Record<string, readonly Feature[]>;

/** Steps that only a run with runs below it takes. */
const familySteps = {
  'create child': ['flow'],
  'claim child': ['flow', 'ask'],
  'append child-ended': ['flow'],
  'append child-suspended': ['flow', 'ask'],
  /** The run above notes how the one below ended, or what it waits for. */
  'append node': ['flow'],
  'append node-waiting': ['flow', 'ask'],
  'append job': ['team'],
  /** The answer of a person goes on from the run above to the one below. */
  'signal child-resume': ['flow', 'ask'],
  'signal child-cancel': ['flow', 'cancel', 'crashes'],
  /** What comes next is decided. */
  'append conduct': ['flow'],
  'append hop': ['hand-off'],
  'append decision': ['plan'],
  'append replan': ['plan', 'retry'],
} as const satisfies Record<string, readonly Feature[]>;

const allSteps = { ...simSteps, ...familySteps };

export type SimStep = keyof typeof allSteps;

/** A moment at which a process can die. */
export type CrashPoint = `${'before' | 'after'} ${SimStep}` | 'during model call' | 'after outcome';

/** All of them: each must be hit over the seeds of the gate. */
export const crashPoints: readonly CrashPoint[] = [
  ...pointsOf(allSteps),
  'during model call',
  'after outcome',
];

/** Those of them that only several agents come to. */
export const familyPoints: readonly CrashPoint[] = pointsOf(familySteps);

function pointsOf(steps: Partial<typeof allSteps>): readonly CrashPoint[] {
  return Object.keys(steps).flatMap((step) => {
    const named = step as SimStep; // The keys of the table.
    return [`before ${named}`, `after ${named}`] as const;
  });
}

/** What a scenario needs so that it comes to this point. */
export function featuresFor(point: CrashPoint): readonly Feature[] {
  if (point === 'during model call' || point === 'after outcome') return [];
  return allSteps[point.slice(point.indexOf(' ') + 1) as SimStep]; // The rest of the name is the step.
}
