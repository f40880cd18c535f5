import type { Action } from '../agent/action.ts';
import type { RunConfig } from '../agent/config.ts';
import type { MachineEvent, PersonAnswer } from '../agent/event.ts';
import type { Moved } from '../agent/moved.ts';
import { wantsExplanation } from '../agent/report/explained.ts';
import { outcomeOf } from '../agent/outcome.ts';
import type { Provenance } from '../agent/approval/provenance.ts';
import type { PersonRequest, RunOutcome } from '../agent/run-outcome.ts';
import type { Calling, RunState } from '../agent/state.ts';
import { transition } from '../agent/transition.ts';
import { attemptOf } from '../agent/turn/turn.ts';
import { unreachable } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { Message } from '../model/message.ts';
import type { AgentParts } from './agent-parts.ts';
import type { Durable } from './record/durable.ts';
import { isAbout } from './run/resume-payload.ts';
import type { ResumePayload } from './run/resume-payload.ts';
import { controlTypeOf, isCancelled } from './record/durable-errors.ts';
import { explainEnd } from './run/explain-step.ts';
import { askHooks, endOf } from './hooks/hook-steps.ts';
import { publish } from './run/live-run.ts';
import { leaveNodes } from './children/node-effect.ts';
import type { LiveRun } from './run/live-run.ts';
import { isAdoptionDue, performAdoption } from './run/adopt-step.ts';
import { asJson, asksHooks, perform } from './perform.ts';
import type { Performing } from './perform.ts';

/** What a run begins with, or continues with. */
export type DriveInput =
  | {
      readonly type: 'start';
      readonly messages: readonly Message[];
      readonly repairs: readonly string[];
      /** What the machine knows of the agent: as it was when the run began, whatever the agent has become since. */
      readonly config?: RunConfig;
      /** Its cancellation was requested before it began. */
      readonly isCancelled?: true;
      readonly session?: SessionPart;
      /** The input makes no sense: nothing is sent. */
      readonly refused?: Failure;
    }
  /** After an end that can be continued from. */
  | {
      readonly type: 'resume';
      readonly state: RunState;
      readonly answer: PersonAnswer;
      readonly wallMs: number;
      readonly config?: RunConfig;
      readonly session?: SessionPart;
      /** Of a run that came from elsewhere: it was resumed here. */
      readonly provenance?: Provenance;
    }
  /** The next generation of a long run. */
  | { readonly type: 'carry-on'; readonly state: RunState; readonly session?: SessionPart };

/** A run's place in a conversation across runs. */
export interface SessionPart {
  readonly id: string;
  /** So many messages at the beginning are the session's own. */
  readonly known: number;
  /** What this run was asked. */
  readonly asked: readonly Message[];
  /** So many effects were in what it began with; absent where none were. */
  readonly effects?: number;
}

/** What the driver needs besides the port. */
export interface Driving {
  readonly parts: AgentParts;
  readonly live: LiveRun;
  /** The run has an outcome: it ended, or it waits outside the process. */
  readonly onOutcome: (live: LiveRun, outcome: RunOutcome) => void | Promise<void>;
}

/** A journal this long is left behind: the run continues in a new one. Part of every record: it must never change. */
const maxSteps = 1000;
/** Where nothing is on record, a new one only gives memory back: that is worth it less often. */
const maxVolatileSteps = 4000;

/**
 * The one driver: feeds the machine with what happened and performs what it wants, as steps of a durable engine. Streaming,
 * callbacks, hooks and telemetry only watch it.
 */
export async function drive(driving: Driving, durable: Durable, input: DriveInput): Promise<Json> {
  const { live } = driving;
  let performing: Performing = { parts: live.parts ?? driving.parts, live, durable };
  const longest = durable.isVolatile === true ? maxVolatileSteps : maxSteps;
  live.provenance ??= durable.provenance ?? ('state' in input ? input.state.provenance : undefined);
  // An imported run adds nothing to a conversation of this store, whatever it says that it belongs to.
  live.session = live.provenance?.type === 'imported' ? undefined : input.session;
  live.isQuiet = isReplaying(durable);
  let moved = await begin(performing, input);
  for (let steps = 0; ; steps += 1) {
    // Bounded by the machine: every event uses up a turn, an attempt, a wait or a rung, and all of them are counted.
    live.state = moved.state;
    if (live.isQuiet) live.isQuiet = isReplaying(durable);
    const work = tell(live, moved.actions);
    if (work === undefined || work.type === 'finish') return finish(driving, performing, moved.state);
    if (steps >= longest && work.type === 'call-model' && work.isFirst) {
      restart(durable, nextGeneration(labelled(live, moved.state), live.session));
    }
    let event: MachineEvent;
    // Awaited here and not in a function of its own: each of those costs a promise, at every step of every run.
    try {
      event = isOver(live) ? cancelled : heard(live, await happen(driving, performing, work));
    } catch (error) {
      event = eventOf(error);
    }
    // Who resumes it here may have handed in its tools again.
    if (event.type === 'resumed') performing = { parts: live.parts ?? driving.parts, live, durable };
    if (breaksOff.has(event.type)) await leaveNodes(driving.parts, moved.state);
    moved = follow(moved.state, event);
    if (durable.behind !== undefined && asksOutside(moved.actions)) await durable.behind();
    // Whatever the machine would do next is not wanted any more.
    if (isOver(live) && moved.state.phase.type !== 'ended') {
      await leaveNodes(driving.parts, moved.state);
      moved = follow(moved.state, cancelled);
    }
  }
}

/** No person is asked for anything that a previous process of the run would not ask for. */
function asksOutside(actions: readonly Action[]): boolean {
  return actions.some(({ type }) => type === 'suspend' || type === 'ask-person');
}

/** Cancellation was requested. What is on record has happened all the same: it is gone through first, or the record would say otherwise. */
function isOver({ isCancelled: isWished, isQuiet }: LiveRun): boolean {
  return isWished && !isQuiet;
}

/** Events after which no process continues the calls that are open. */
const breaksOff: ReadonlySet<MachineEvent['type']> = new Set(['cancelled', 'broken', 'halted']);

/** Whether all of this has happened before, in a previous process of the run: it is not reported again. */
function isReplaying(durable: Durable): boolean {
  return durable.isReplaying?.() ?? false;
}

/** Leaves this generation, unless cancellation was requested: then the next step reports it. */
function restart(durable: Durable, next: DriveInput): void {
  try {
    durable.restart(asJson(next));
  } catch (error) {
    if (!isCancelled(error)) throw error;
  }
}

/** The state with where the run came from, for the process that continues from it. */
export function labelled({ provenance }: LiveRun, state: RunState): RunState {
  return provenance === undefined ? state : { ...state, provenance };
}

function nextGeneration(state: RunState, session: SessionPart | undefined): DriveInput {
  const next = { type: 'carry-on', state } as const;
  return session === undefined ? next : { ...next, session };
}

/** An event without meaning is a defect of the driver; it is reported and ends the run, never waited on. */
function follow(state: RunState, event: MachineEvent): Moved {
  const moved = transition(state, event);
  return moved.invalid === undefined ? moved : transition(state, { type: 'broken', failure: moved.invalid });
}

async function begin(performing: Performing, input: DriveInput): Promise<Moved> {
  const { parts, live } = performing;
  switch (input.type) {
    case 'start':
      return start(performing, input);
    case 'resume': {
      const { state, answer, wallMs, config = parts.config, provenance } = input;
      const here = provenance === undefined ? {} : { provenance };
      return follow(state, { type: 'resumed', answer, wallMs, config, ...here });
    }
    case 'carry-on': {
      const { state } = input;
      live.state = state;
      // A run is only carried over where it is about to ask a model.
      return { state, actions: [attemptOf(state, state.phase as Calling, true)] };
    }
    default:
      return unreachable(input);
  }
}

async function start(performing: Performing, input: Extract<DriveInput, { type: 'start' }>): Promise<Moved> {
  const { parts, live } = performing;
  const { name } = parts;
  const { runId } = live;
  const { repairs, refused, messages, config = parts.config } = input;
  const begun = (given: readonly Message[]): Moved =>
    transition(undefined, { type: 'run-started', runId, config, messages: given, repairs });
  if (refused !== undefined) return instead(begun(messages), { type: 'broken', failure: refused });
  const isWished = isOver(live) && !live.isUntouched;
  if (isWished || input.isCancelled === true) return instead(begun(messages), { type: 'cancelled' });
  if (!asksHooks(performing, 'run-start')) return begun(messages);
  try {
    const moment = { runId, agent: name, turn: 0, input: messages };
    const verdict = await askHooks(performing, { point: 'run-start' }, moment);
    if (verdict.type === 'continue')
      return begun(verdict.modifiedBy.length === 0 ? messages : verdict.moment.input);
    return instead(begun(messages), endOf(verdict));
  } catch (error) {
    if (!isCancelled(error)) throw error;
    return instead(begun(messages), { type: 'cancelled' });
  }
}

/** The run has begun and ends at once: what it would have done is not done. */
function instead(begun: Moved, event: MachineEvent): Moved {
  const tellings = begun.actions.filter(
    (action) => action.type === 'tell' && action.event.type !== 'turn-started',
  );
  const moved = follow({ ...begun.state, turn: 0 }, event);
  return { ...moved, actions: [...tellings, ...moved.actions] };
}

/** Emits the events, and gives what is to be done. */
function tell(live: LiveRun, actions: readonly Action[]): Exclude<Action, { type: 'tell' }> | undefined {
  let work: Exclude<Action, { type: 'tell' }> | undefined;
  for (const action of actions) {
    if (action.type === 'tell') publish(live, action.event);
    else work = action;
  }
  return work;
}

function happen(
  driving: Driving,
  performing: Performing,
  work: Exclude<Action, { type: 'tell' | 'finish' }>,
): Promise<MachineEvent> {
  if (isAdoptionDue(performing)) return performAdoption(performing, work);
  return work.type === 'suspend' ? waitOutside(driving, performing) : perform(performing, work);
}

const cancelled: MachineEvent = { type: 'cancelled' };

/** A failure caused by cancellation counts as cancelled. */
function heard({ isCancelled: isSo }: LiveRun, event: MachineEvent): MachineEvent {
  return event.type === 'broken' && isSo ? cancelled : event;
}

/** Another control error is the engine's; anything else is a defect, and ends the run with its state kept. */
function eventOf(error: unknown): MachineEvent {
  if (isCancelled(error)) return cancelled;
  if (controlTypeOf(error) !== undefined) throw error;
  return { type: 'broken', failure: classifyFailure(error, 'agent') };
}

/** The run has an outcome and still exists: it continues when a person says so. */
async function waitOutside(driving: Driving, { durable, parts, live }: Performing): Promise<MachineEvent> {
  const state = live.state as RunState; // A run that is suspended has begun.
  const signalled = await durable.waitFor('resume', {
    onWaiting: () => {
      live.isQuiet = false;
      void settle(driving, state);
    },
  });
  if (signalled.type === 'timed-out')
    return { type: 'resumed', answer: { given: false }, wallMs: parts.clock.wallMs(), config: state.config };
  const { answer, wallMs, config, about, provenance } = signalled.payload as unknown as ResumePayload; // Its one form.
  const heardAnswer = isAbout(about, requestIn(state), state.runId) ? answer : { given: false as const };
  const here = provenance === undefined ? {} : { provenance };
  return { type: 'resumed', answer: heardAnswer, wallMs, config: config ?? state.config, ...here };
}

function requestIn(state: RunState): PersonRequest | undefined {
  const outcome = outcomeOf(state);
  return outcome?.type === 'suspended' ? outcome.request : undefined;
}

async function finish(driving: Driving, performing: Performing, ended: RunState): Promise<Json> {
  const { live } = driving;
  let state = ended;
  if (wantsExplanation(ended)) {
    // It has its outcome already, whatever becomes of explaining it.
    await settle(driving, ended);
    state = await explainEnd(performing, ended);
    live.state = state;
  }
  live.isQuiet = false;
  await settle(driving, state);
  return { type: state.phase.type === 'ended' ? state.phase.end : state.phase.type };
}

function settle({ live, onOutcome }: Driving, state: RunState): void | Promise<void> {
  const outcome = outcomeOf(state);
  return outcome === undefined ? undefined : onOutcome(live, outcome);
}
