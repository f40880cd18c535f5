import { setImmediate } from 'node:timers/promises';
import type { Json } from '../../../src/base/json.ts';
import { carryRun } from '../../../src/engines/temporal/carry-run.ts';
import type {
  Begin,
  BrokenDetails,
  CarriedResult,
  EffectRequest,
  JournalPage,
  News,
} from '../../../src/engines/temporal/messages.ts';
import type {
  Cancellable,
  EffectEnding,
  Handlers,
  Sandbox,
  Scheduling,
} from '../../../src/engines/temporal/sandbox.ts';
import type { DurableProgram } from '../../../src/runtime/record/durable.ts';

// Temporal as far as a workflow meets it: jobs come in, commands go out, and both are on record in the order in which they were.

/** What reaches a workflow. */
export type Job =
  | { readonly type: 'start' }
  | { readonly type: 'signal'; readonly name: 'rerailSignal' | 'rerailCancel'; readonly value: Json }
  | { readonly type: 'activity'; readonly seq: number; readonly ending: EffectEnding }
  | { readonly type: 'timer'; readonly seq: number };

/** What a workflow asks for. */
export type Command =
  | {
      readonly type: 'activity';
      readonly seq: number;
      readonly request: EffectRequest;
      readonly scheduling: Scheduling;
    }
  | { readonly type: 'cancel-activity'; readonly seq: number }
  | { readonly type: 'timer'; readonly seq: number; readonly delayMs: number; readonly dueAtMs: number }
  | { readonly type: 'cancel-timer'; readonly seq: number }
  | { readonly type: 'complete'; readonly result: CarriedResult }
  | { readonly type: 'fail'; readonly details: BrokenDetails }
  | { readonly type: 'continue'; readonly begin: Begin };

/** One workflow task. */
export interface Activation {
  readonly jobs: readonly Job[];
  readonly commands: readonly Command[];
}

/** One workflow execution on record. */
export interface Execution {
  readonly begin: Begin;
  readonly activations: Activation[];
}

/** A workflow in memory, which can be lost and made again from its record. */
export interface SimulatedWorkflow {
  /** Hands it jobs, and gives what it asks for then. */
  readonly activate: (jobs: readonly Job[]) => Promise<readonly Command[]>;
  readonly status: () => ReturnType<Handlers['status']>;
  readonly journal: (from: number) => JournalPage;
}

export interface WorkflowOptions {
  readonly execution: Execution;
  readonly program: DurableProgram;
  readonly tell: (news: News) => void;
}

/** Makes a workflow come to where its record ends. Throws where it asks for something else than it did. */
export async function openWorkflow(options: WorkflowOptions): Promise<SimulatedWorkflow> {
  const { execution } = options;
  const held: Held = {
    ...options,
    commands: [],
    resolvers: new Map(),
    isReplaying: true,
    seq: 0,
    handlers: undefined,
    isOver: false,
  };
  for (const { jobs, commands } of execution.activations) {
    const again = await activate(held, jobs);
    const [was, is] = [commands, again].map((list) => list.map(nameOf).join(', '));
    if (was !== is) throw new Error(`Nondeterminism: the history has [${was}], the workflow makes [${is}]`);
  }
  held.isReplaying = false;
  return {
    activate: (jobs) => activate(held, jobs),
    status: () => held.handlers?.status() ?? {},
    journal: (from) => {
      const page = held.handlers?.journal(from);
      if (page === undefined) throw new Error('The workflow has not begun');
      return copied(page);
    },
  };
}

interface Held extends WorkflowOptions {
  commands: Command[];
  readonly resolvers: Map<number, (value: unknown) => void>;
  isReplaying: boolean;
  seq: number;
  handlers: Handlers | undefined;
  isOver: boolean;
}

function nameOf(command: Command): string {
  return command.type === 'activity' ? `activity ${command.scheduling.id}` : command.type;
}

async function activate(held: Held, jobs: readonly Job[]): Promise<readonly Command[]> {
  held.commands = [];
  for (const job of jobs) apply(held, job);
  await setImmediate();
  await setImmediate();
  return held.commands;
}

function apply(held: Held, job: Job): void {
  const { program, execution } = held;
  switch (job.type) {
    case 'start':
      void carryRun(sandboxOf(held), program, execution.begin).then(
        (result) => emit(held, { type: 'complete', result: copied(result) }),
        (error: unknown) => (error instanceof Ending ? emit(held, error.command) : undefined),
      );
      return;
    case 'signal':
      if (job.name === 'rerailSignal') held.handlers?.onSignal(copied(job.value) as never);
      else held.handlers?.onCancel(job.value as string); // As it was sent.
      return;
    case 'activity':
      held.resolvers.get(job.seq)?.(copied(job.ending));
      held.resolvers.delete(job.seq);
      return;
    default:
      held.resolvers.get(job.seq)?.(undefined);
      held.resolvers.delete(job.seq);
  }
}

function emit(held: Held, command: Command): void {
  if (held.isOver) return;
  if (command.type === 'complete' || command.type === 'fail' || command.type === 'continue')
    held.isOver = true;
  held.commands.push(command);
}

class Ending extends Error {
  readonly command: Command;
  constructor(command: Command) {
    super(command.type);
    this.command = command;
  }
}

function sandboxOf(held: Held): Sandbox {
  const open = <Value>(
    make: (seq: number) => Command,
    cancel: (seq: number) => Command,
  ): Cancellable<Value> => {
    held.seq += 1;
    const { seq } = held;
    emit(held, make(seq));
    const promise = new Promise<Value>((resolve) =>
      held.resolvers.set(seq, resolve as (value: unknown) => void),
    );
    return {
      promise,
      cancel: () => {
        if (!held.resolvers.has(seq)) return;
        const command = cancel(seq);
        emit(held, command);
        if (command.type === 'cancel-timer') held.resolvers.delete(seq);
      },
    };
  };
  return {
    perform: (request, scheduling, onEnd) => {
      const { promise, cancel } = open<EffectEnding>(
        (seq) => ({ type: 'activity', seq, request: copied(request), scheduling }),
        (seq) => ({ type: 'cancel-activity', seq }),
      );
      void promise.then(onEnd);
      return cancel;
    },
    sleep: (delayMs) =>
      open(
        (seq) => ({ type: 'timer', seq, delayMs, dueAtMs: Date.now() + delayMs }),
        (seq) => ({ type: 'cancel-timer', seq }),
      ),
    listen: (handlers) => {
      held.handlers = handlers;
    },
    tell: (news) => {
      if (!held.isReplaying) held.tell(copied(news));
    },
    continueAsNew: (begin) => Promise.reject(new Ending({ type: 'continue', begin: copied(begin) })),
    broken: (details) => new Ending({ type: 'fail', details: copied(details) }),
    history: () => ({ events: 0, bytes: 0 }),
    nowMs: () => 0,
  };
}

/** What crosses to Temporal is written as JSON. */
function copied<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value);
}
