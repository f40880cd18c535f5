import type { Json } from '../../base/json.ts';
import type { RunStatus, Started } from '../../runtime/record/durable.ts';
import type { NamedSignal, RunEnd } from '../../runtime/record/journal.ts';
import type {
  CarryMessage,
  DeskStatus,
  ListenMessage,
  Mail,
  NoteMessage,
  SettleMessage,
  SignalAnswer,
  StartMessage,
  WhyAnswer,
  WhyMessage,
} from './messages.ts';
import type { Names } from './names.ts';
import { cancelledInRestate } from './record.ts';
import type { RestateLimits } from './options.ts';
import { retryPolicy } from './retry-policy.ts';
import type { RestateObjectContext, RestateSdk } from './sdk.ts';

/**
 * The desk of a run: an object of Restate, keyed by the run's id, that outlives every generation. It keeps the signals until
 * they are taken, the cancellation, and the end; its handlers are short, one at a time, and never wait.
 */
export function createDesk(parts: DeskParts): unknown {
  const { sdk, names } = parts;
  return sdk.object({
    name: names.desk,
    handlers: {
      start: (context, message: StartMessage) => start(parts, context, message),
      signal: (context, signal: NamedSignal) => addSignal(parts, context, signal),
      cancel: (context, message: { readonly reason: string }) => cancel(parts, context, message.reason),
      listen: (context, message: ListenMessage) => listen(context, message),
      why: (context, message: WhyMessage) => why(context, message),
      note: (context, message: NoteMessage) => note(context, message),
      settle: (context, message: SettleMessage) => settle(parts, context, message),
      status: sdk.handlers.object.shared((context) => status(context)),
    },
    options: { journalRetention: 0, retryPolicy },
  });
}

/** What a desk is made of. */
export interface DeskParts {
  readonly sdk: RestateSdk;
  readonly names: Names;
  readonly limits: RestateLimits;
  /** Informs the effects of a run in this process that the run is cancelled. */
  readonly abort: (runId: string, reason: string) => void;
}

/** Long past every sender that repeats itself. */
const maxRememberedIds = 10_000;

/** What is known of a run, apart from its signals and what it said. */
export interface DeskRun {
  readonly version: string;
  readonly generation: number;
  readonly invocationId: string;
  readonly seq: number;
  readonly isEnded: boolean;
  /** Whether there is something under the other keys; else they are not read. */
  readonly hasSignals: boolean;
  readonly hasAnnounced: boolean;
  readonly waiting?: string;
  readonly cancelReason?: string;
  /** Whether its program was asked to end. */
  readonly isCancelled?: boolean;
  /** Whether its program has begun: Restate would kill one that has not, instead of cancelling it. */
  readonly hasListened?: boolean;
  /** The program waits for mail under this id. */
  readonly listener?: string;
}

/** A signal at the desk. It stays until the program reports that it was taken. */
interface KeptSignal extends NamedSignal {
  readonly isTold: boolean;
}

type Context = RestateObjectContext;

async function start(parts: DeskParts, context: Context, message: StartMessage): Promise<Started> {
  const run = await context.get<DeskRun>('run');
  const { version, input, after = 0 } = message;
  if (run !== null && (!run.isEnded || run.generation > after)) return 'known';
  if (run !== null) context.clear('end');
  const signals = await signalsOf(context, run);
  await launch(parts, context, {
    version,
    input,
    signals,
    hadSignals: run?.hasSignals ?? false,
    generation: after + 1,
  });
  return 'begun';
}

interface Launch {
  readonly version: string;
  readonly generation: number;
  readonly input: Json;
  readonly signals: readonly KeptSignal[];
  readonly hadSignals: boolean;
  readonly cancelReason?: string | undefined;
}

async function launch({ sdk, names, limits }: DeskParts, context: Context, wanted: Launch): Promise<void> {
  const { version, generation, input, signals, hadSignals, cancelReason } = wanted;
  const runId = context.key;
  const { maxSteps, maxJournalBytes, maxValueBytes } = limits;
  const carry: CarryMessage = {
    runId,
    generation,
    input,
    signals: signals.map(plain),
    ...(cancelReason === undefined ? {} : { cancelReason }),
    limits: { maxSteps, maxJournalBytes, maxValueBytes },
  };
  const sent = context.genericSend({
    service: names.program,
    method: 'carry',
    parameter: carry,
    inputSerde: sdk.serde.json,
    // Only of what has such a key can be asked what became of it.
    idempotencyKey: `${runId}/${generation}`,
  });
  const invocationId = await sent.invocationId;
  const run: DeskRun = {
    version,
    generation,
    invocationId,
    seq: -1,
    isEnded: false,
    hasSignals: hadSignals,
    hasAnnounced: false,
    // Then it begins with the cancel request.
    ...(cancelReason === undefined ? {} : { cancelReason, isCancelled: true }),
  };
  keep(context, run, signals.map(told));
}

async function addSignal(parts: DeskParts, context: Context, signal: NamedSignal): Promise<SignalAnswer> {
  const run = await context.get<DeskRun>('run');
  if (run === null) return 'unknown';
  const ids = (await context.get<readonly string[]>('ids')) ?? [];
  if (ids.includes(signal.id)) return 'duplicate';
  const signals = await signalsOf(context, run);
  if (signals.length >= parts.limits.maxSignals) return 'full';
  context.set('ids', [...ids, signal.id].slice(-maxRememberedIds));
  const { id, name, payload } = signal;
  const { waiting, ...rest } = run;
  deliver(context, waiting === name ? rest : run, [...signals, { id, name, payload, isTold: false }]);
  return 'added';
}

async function cancel({ abort }: DeskParts, context: Context, reason: string): Promise<'done' | 'unknown'> {
  const run = await context.get<DeskRun>('run');
  if (run === null) return 'unknown';
  if (run.isEnded || run.cancelReason !== undefined) return 'done';
  context.set('run', cancelled(context, { ...run, cancelReason: reason }));
  abort(context.key, reason);
  return 'done';
}

async function listen(context: Context, message: ListenMessage): Promise<void> {
  const run = await context.get<DeskRun>('run');
  const { generation, awakeableId, took, isPrompt = false } = message;
  const nothing: Mail = { signals: [] };
  if (run === null || run.isEnded || run.generation !== generation)
    return isPrompt ? context.resolveAwakeable(awakeableId, nothing) : undefined;
  const signals = without(await signalsOf(context, run), took);
  const listening = cancelled(context, { ...run, hasListened: true });
  if (isPrompt && signals.every(({ isTold }) => isTold)) {
    context.resolveAwakeable(awakeableId, nothing);
    return keep(context, listening, signals);
  }
  deliver(context, { ...listening, listener: awakeableId }, signals);
}

/** Cancels the program by Restate's own means where that is wanted: it arrives whatever the program waits for. */
function cancelled(context: Context, run: DeskRun): DeskRun {
  const { cancelReason, isCancelled, hasListened, invocationId } = run;
  if (cancelReason === undefined || isCancelled === true || hasListened !== true) return run;
  context.cancel(invocationId);
  return { ...run, isCancelled: true };
}

/**
 * Restate informs a program that it was cancelled, and not why. It is always answered, for it waits; and the answer is kept, for
 * the next generation and for readers of the record.
 */
async function why(context: Context, { generation, awakeableId }: WhyMessage): Promise<void> {
  const run = await context.get<DeskRun>('run');
  const cancelReason = run?.cancelReason ?? cancelledInRestate;
  const answer: WhyAnswer = { cancelReason };
  context.resolveAwakeable(awakeableId, answer);
  if (run !== null && !run.isEnded && run.generation === generation)
    context.set('run', { ...run, cancelReason, isCancelled: true });
}

/** Sends the program what it has not received yet, if it listens; else when it listens again. */
function deliver(context: Context, run: DeskRun, signals: readonly KeptSignal[]): void {
  const { listener, ...rest } = run;
  const untold = signals.filter(({ isTold }) => !isTold);
  if (listener === undefined || run.isEnded || untold.length === 0) return keep(context, run, signals);
  const mail: Mail = { signals: untold.map(plain) };
  context.resolveAwakeable(listener, mail);
  keep(context, rest, signals.map(told));
}

async function note(context: Context, message: NoteMessage): Promise<void> {
  const found = await context.get<DeskRun>('run');
  const { generation, seq, waiting, took = [] } = message;
  if (found === null || found.isEnded || found.generation !== generation) return;
  const run = took.length === 0 ? found : await letGo(context, found, took);
  if (seq < run.seq) return;
  if ('announced' in message) context.set('announced', message.announced);
  const { waiting: before, ...rest } = run;
  const now = waiting === undefined ? before : waiting;
  const hasAnnounced = run.hasAnnounced || 'announced' in message;
  const noted = { ...rest, seq, hasAnnounced };
  context.set('run', now === undefined || now === null ? noted : { ...noted, waiting: now });
}

/** Makes room for others. */
async function letGo(context: Context, run: DeskRun, took: readonly string[]): Promise<DeskRun> {
  const signals = without(await signalsOf(context, run), took);
  keep(context, run, signals);
  return { ...run, hasSignals: signals.length > 0 };
}

async function settle(parts: DeskParts, context: Context, message: SettleMessage): Promise<void> {
  const run = await context.get<DeskRun>('run');
  if (run === null || run.isEnded || run.generation !== message.generation) return;
  const signals = without(await signalsOf(context, run), message.took);
  if (run.hasAnnounced) context.clear('announced');
  const { version, generation, invocationId, seq, cancelReason, hasSignals } = run;
  const { ending } = message;
  if (ending.type === 'restart')
    return launch(parts, context, {
      version,
      generation: generation + 1,
      input: ending.state,
      signals,
      hadSignals: hasSignals,
      cancelReason,
    });
  context.set('end', ending.end);
  const ended = { version, generation, invocationId, seq, isEnded: true, hasSignals, hasAnnounced: false };
  keep(context, cancelReason === undefined ? ended : { ...ended, cancelReason }, signals);
}

async function status(context: Context): Promise<DeskStatus> {
  const run = await context.get<DeskRun>('run');
  if (run === null) return { status: { type: 'unknown' } };
  const { generation } = run;
  if (run.isEnded) return { status: endedAs(await context.get<RunEnd>('end'), generation) };
  const { waiting, invocationId, hasAnnounced, cancelReason } = run;
  const about = { generation, invocationId, ...(cancelReason === undefined ? {} : { cancelReason }) };
  const announced = hasAnnounced ? { announced: await context.get<Json>('announced') } : {};
  return waiting === undefined
    ? { status: { type: 'running', ...announced }, ...about }
    : { status: { type: 'waiting', signal: waiting, ...announced }, ...about };
}

function endedAs(end: RunEnd | null, generation: number): RunStatus {
  return end?.type === 'ended' ? { ...end, generation } : (end ?? { type: 'unknown' });
}

async function signalsOf(context: Context, run: DeskRun | null): Promise<readonly KeptSignal[]> {
  if (run?.hasSignals !== true) return [];
  return (await context.get<readonly KeptSignal[]>('signals')) ?? [];
}

/** `run.hasSignals` says whether there were any until now. */
function keep(context: Context, run: DeskRun, signals: readonly KeptSignal[]): void {
  const hasSignals = signals.length > 0;
  if (hasSignals) context.set('signals', signals);
  else if (run.hasSignals) context.clear('signals');
  context.set('run', { ...run, hasSignals });
}

function plain({ id, name, payload }: KeptSignal): NamedSignal {
  return { id, name, payload };
}

function told(signal: KeptSignal): KeptSignal {
  return { ...signal, isTold: true };
}

function without(signals: readonly KeptSignal[], ids: readonly string[]): readonly KeptSignal[] {
  return ids.length === 0 ? signals : signals.filter(({ id }) => !ids.includes(id));
}
