import { createFailure } from '../../errors/failure.ts';
import { askDesk } from './ask-desk.ts';
import type { Host } from './generation.ts';
import { askRestate } from './ingress.ts';
import type { DeskStatus, SettleMessage } from './messages.ts';
import { readJournal } from './read-journal.ts';

/** When runs that seem to live were last looked after, by their ids. */
export type Lookouts = Map<string, Lookout>;

interface Lookout {
  readonly atMs: number;
  /** An invocation that had ended when it was last looked at: then its word to the desk may have been under way. */
  readonly gone: string | undefined;
}

/** Runs that are looked after at the same time; the oldest are forgotten first, and are only looked at later. */
const maxLookouts = 10_000;

/**
 * A program that ends says so to its desk. One that was killed in Restate cannot, and would seem to live for ever: the code that
 * asks for it looks now and then whether Restate still runs it.
 */
export async function lookAfter(
  host: Host,
  lookouts: Lookouts,
  { runId, known }: { readonly runId: string; readonly known: DeskStatus },
): Promise<void> {
  const { invocationId } = known;
  if (invocationId === undefined) return void lookouts.delete(runId);
  const { clock } = host.setup;
  const atMs = clock.monotonicMs();
  const last = lookouts.get(runId);
  if (last !== undefined && atMs - last.atMs < host.options.limits.lookEveryMs) return;
  if (last === undefined) return remember(lookouts, runId, { atMs, gone: undefined });
  const gone = (await isCarried(host, runId, invocationId)) ? undefined : invocationId;
  remember(lookouts, runId, { atMs, gone });
  if (gone !== undefined && gone === last.gone) await settleGone(host, { runId, known, invocationId });
}

function remember(lookouts: Lookouts, runId: string, lookout: Lookout): void {
  lookouts.delete(runId);
  lookouts.set(runId, lookout);
  if (lookouts.size <= maxLookouts) return;
  for (const oldest of lookouts.keys()) return void lookouts.delete(oldest);
}

/** What Restate answers of an invocation that has not ended. */
const notReady = 470;

async function isCarried({ options }: Host, runId: string, invocationId: string): Promise<boolean> {
  let isCarriedStill = false;
  await askRestate(options, {
    base: options.ingressUrl,
    path: ['restate', 'invocation', invocationId, 'output'],
    method: 'GET',
    deed: `report whether run "${runId}" is still running`,
    isFine: (status, text) => {
      isCarriedStill = status === notReady;
      // What an invocation ended with is given as the end of the request.
      return isCarriedStill || status === 404 || text.includes('"source":"invocation"');
    },
  });
  return isCarriedStill;
}

interface Gone {
  readonly runId: string;
  readonly known: DeskStatus;
  readonly invocationId: string;
}

async function settleGone(host: Host, { runId, known, invocationId }: Gone): Promise<void> {
  const { generation = 0 } = known;
  const failure = createFailure('ACTIVITY_FAILED', {
    origin: 'durable',
    message: `Restate no longer runs "${runId}": its invocation ${invocationId} was ended from outside`,
    sideEffect: 'possible',
    context: { runId, generation, invocationId },
  });
  const body: SettleMessage = {
    generation,
    took: await takenBy(host, runId),
    ending: { type: 'end', end: { type: 'broken', failure } },
  };
  await askDesk(host, runId, { handler: 'settle', body, deed: `note the end of run "${runId}"` });
}

/** It took them, and could not say so: the next life must not be given them again. */
async function takenBy(host: Host, runId: string): Promise<readonly string[]> {
  try {
    const { journal = [] } = (await readJournal(host, runId)) ?? {};
    return journal.flatMap((entry) => {
      if (entry.type === 'call') return entry.took ?? [];
      return entry.type === 'wait' && entry.signalled?.type === 'signalled' ? [entry.signalled.id] : [];
    });
  } catch {
    return []; // Restate does not show its journal, or keeps it no more.
  }
}
