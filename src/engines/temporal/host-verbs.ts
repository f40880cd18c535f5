import type { Json } from '../../base/json.ts';
import { systemClock } from '../../base/system.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type {
  Engine,
  EngineSetup,
  RunStatus,
  SignalMessage,
  Started,
  StartOptions,
} from '../../runtime/record/durable.ts';
import { engineError } from '../../runtime/record/durable-errors.ts';
import type { TemporalClient } from './connect.ts';
import { isNotFound, isStarted, typed } from './failures.ts';
import type { Deed } from './failures.ts';
import { endOf, findHead, stuckFailure } from './head.ts';
import type { Head } from './head.ts';
import type { Begin, CarriedStatus, JournalPage } from './messages.ts';
import {
  cancelName,
  journalName,
  queueOf,
  signalName,
  statusName,
  workflowIdOf,
  workflowType,
} from './names.ts';
import type { ResolvedOptions } from './options.ts';
import { readJournal, snapshotOf } from './read-journal.ts';
import type { WholeJournal } from './read-journal.ts';

/** What the verbs of the host are made of. */
export interface Host {
  readonly setup: Pick<EngineSetup, 'name' | 'version' | 'facts'>;
  readonly options: ResolvedOptions;
  readonly client: TemporalClient;
  readonly isClosed: () => boolean;
}

/** The verbs of the process that hosts the runs of an agent. */
export function createHostVerbs(host: Host, close: () => Promise<void>): Engine {
  return {
    start: (input, wanted) => {
      const words = `start run "${wanted.runId}"`;
      return ask(host, { words }, () => start(host, input, wanted));
    },
    signal: (runId, name, message) => {
      const words = `give run "${runId}" the signal "${name}"`;
      return ask(host, { words, lateCode: 'SIGNAL_TIMEOUT' }, () => signal(host, runId, { name, message }));
    },
    cancel: (runId, reason) =>
      ask(host, { words: `cancel run "${runId}"` }, async () => {
        const deed = { name: cancelName, payload: reason, words: 'be cancelled' };
        await send(host, runId, { ...deed, whenOver: () => undefined });
      }),
    status: (runId) => ask(host, { words: `ask for run "${runId}"` }, () => status(host, runId)),
    journal: (runId) =>
      ask(host, { words: `read the journal of run "${runId}"` }, async () => {
        const head = await headOf(host, runId);
        if (head === undefined) return undefined;
        const journal = await journalOf(head);
        const end = head.isLive ? undefined : (await endOf(head)).end;
        return snapshotOf(runId, journal, end);
      }),
    close,
  };
}

/** Each verb has its time, and failures get our own messages. */
async function ask<T>(host: Host, deed: Deed, work: () => Promise<T>): Promise<T> {
  const { client, options, isClosed } = host;
  if (isClosed()) throw engineError(`Cannot ${deed.words}: the engine is closed`, { retryable: false });
  try {
    return await client.connection.withDeadline(systemClock.wallMs() + options.requestTimeoutMs, work);
  } catch (error) {
    throw typed(deed, error);
  }
}

function headOf({ client, setup }: Host, runId: string): Promise<Head | undefined> {
  return findHead(client.workflow, workflowIdOf(setup.name, runId), runId);
}

/** All that is on record of an execution: its workflow is asked, which a worker makes again from its history. */
export function journalOf({ handle }: Pick<Head, 'handle'>): Promise<WholeJournal> {
  return readJournal(async (from) => (await handle.query(journalName, from)) as JournalPage); // What our workflow answers.
}

async function start(host: Host, input: Json, wanted: StartOptions): Promise<Started> {
  const { setup } = host;
  const { runId, version, after = 0 } = wanted;
  if (version !== setup.version) {
    const sides = `version "${setup.version}", not "${version}"`;
    throw engineError(`Cannot start run "${runId}": this engine runs ${sides}`, { retryable: false });
  }
  if (after === 0) return begin(host, { wanted, input });
  const head = await headOf(host, runId);
  if (head?.isLive === true) return 'known';
  const left = head === undefined ? undefined : await leftBehind(head);
  if (left === undefined) return begin(host, { wanted, input });
  return left.generation > after ? 'known' : begin(host, { wanted, input, left });
}

type Left = Pick<Begin, 'generation' | 'signals' | 'signalIds'>;

/** One that Temporal itself has ended left nothing: then its workflow is asked. */
async function leftBehind(head: Head): Promise<Left> {
  const { left } = await endOf(head);
  return left ?? journalOf(head);
}

interface Beginning {
  readonly wanted: StartOptions;
  readonly input: Json;
  /** By the generation before; absent for a run of which Temporal has nothing. */
  readonly left?: Left;
}

/** Begins a generation, unless one is under way; the first one, unless Temporal knows one. */
async function begin(host: Host, { wanted, input, left }: Beginning): Promise<Started> {
  const { setup, options, client } = host;
  const { runId, version, after = 0 } = wanted;
  const whole: Begin = {
    runId,
    version,
    generation: after + 1,
    input,
    facts: setup.facts?.() ?? null,
    limits: options.limits,
    signals: left?.signals ?? [],
    signalIds: left?.signalIds ?? [],
  };
  checkSize(`The input of run "${runId}"`, whole, options);
  try {
    await client.workflow.start(workflowType, {
      taskQueue: queueOf(options.taskQueue, setup.name),
      workflowId: workflowIdOf(setup.name, runId),
      args: [whole],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: left === undefined ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    });
    return 'begun';
  } catch (error) {
    if (isStarted(error)) return 'known';
    throw error;
  }
}

function checkSize(what: string, value: unknown, { limits }: ResolvedOptions): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes <= limits.maxValueBytes) return;
  throw RerailError.from(
    createFailure('HISTORY_LIMIT', {
      origin: 'durable',
      message: `${what} takes ${bytes} bytes, and at most ${limits.maxValueBytes} are kept in Temporal's history`,
      hint: 'Pass large values by reference. Temporal itself takes no more than 2 MB at once.',
    }),
  );
}

interface Signalling {
  readonly name: string;
  readonly message: SignalMessage;
}

async function signal(host: Host, runId: string, { name, message }: Signalling): Promise<void> {
  const { id, payload } = message;
  checkSize(`The signal "${id}"`, payload, host.options);
  const words = `take the signal "${name}"`;
  await send(host, runId, {
    name: signalName,
    payload: { name, id, payload },
    words,
    whenOver: () => {
      throw engineError(`Run "${runId}" cannot ${words}: it has ended`, { retryable: false });
    },
  });
}

interface Sending {
  readonly name: string;
  readonly payload: unknown;
  readonly words: string;
  readonly whenOver: () => void;
}

async function send(host: Host, runId: string, { name, payload, words, whenOver }: Sending): Promise<void> {
  const { client, setup } = host;
  try {
    await client.workflow.getHandle(workflowIdOf(setup.name, runId)).signal(name, payload);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if ((await headOf(host, runId)) !== undefined) return whenOver();
    throw engineError(`Run "${runId}" cannot ${words}: there is no such run`, { retryable: false });
  }
}

async function status(host: Host, runId: string): Promise<RunStatus> {
  const head = await headOf(host, runId);
  if (head === undefined) return { type: 'unknown' };
  if (!head.isLive) {
    const { end, left } = await endOf(head);
    return end.type === 'ended' ? { ...end, generation: left?.generation ?? 1 } : end;
  }
  const failure = await stuckFailure(head);
  if (failure !== undefined) return { type: 'broken', failure };
  const { waiting, announced } = (await head.handle.query(statusName)) as CarriedStatus; // What our workflow answers.
  const about = announced === undefined ? {} : { announced };
  return waiting === undefined
    ? { type: 'running', ...about }
    : { type: 'waiting', signal: waiting, ...about };
}
