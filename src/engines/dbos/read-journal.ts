import { assert } from '../../base/assert.ts';
import type { RunSnapshot } from '../../runtime/record/journal.ts';
import { createInbox } from '../../runtime/record/memory-inbox.ts';
import { historyOf, maxSignals, outside } from './carried-run.ts';
import type { AgentHost } from './carried-run.ts';
import { findHead } from './head.ts';
import type { Head } from './head.ts';
import { isInherited, letterIn, workflowIdOf } from './order.ts';
import type { Letter, Order } from './order.ts';
import { readLog } from './run-log.ts';

/** What the tables of DBOS hold of the latest generation of a run, whichever process runs it. */
export async function readJournal(host: AgentHost, runId: string): Promise<RunSnapshot | undefined> {
  const head = await findHead(host, runId);
  return head === undefined ? undefined : snapshotOf(host, head);
}

async function snapshotOf(host: AgentHost, { runId, generation, row, returned }: Head): Promise<RunSnapshot> {
  const { workflowID } = row;
  const order = await readOrder(host, workflowID);
  // The mailboxes first: a letter goes from there into the log, so that it is seen in one of them at least.
  const unread = await readMail(host, order);
  const steps = (await outside(() => host.dbos.listWorkflowSteps(workflowID))) ?? [];
  const log = readLog(steps);
  const end = returned?.type === 'over' ? returned.end : undefined;
  const inherited = log.hasInherited ? [] : unread.inherited;
  const letters = [...log.letters, ...inherited, ...unread.own];
  const inbox = createInbox(maxSignals, historyOf(order, { ...log, letters }));
  // After its end one that has not been received is not obeyed.
  const cancelReason = order.cancelReason ?? reasonIn(end === undefined ? letters : log.letters);
  return {
    runId,
    version: order.version,
    generation,
    input: order.input,
    journal: log.journal,
    signals: inbox.all(),
    signalIds: inbox.ids(),
    ...(cancelReason === undefined ? {} : { cancelReason }),
    ...(end === undefined ? {} : { end }),
  };
}

async function readOrder({ dbos }: AgentHost, workflowId: string): Promise<Order> {
  const [row] = await outside(() => dbos.listWorkflows({ workflowIDs: [workflowId], loadOutput: false }));
  const text = row?.input?.[0];
  assert(typeof text === 'string', `The input of workflow "${workflowId}" is not what was written`);
  return JSON.parse(text) as Order; // What `startGeneration` gave.
}

interface Unread {
  readonly own: readonly Letter[];
  /** What lies in the mailbox of the generation before: this one receives it when it begins. */
  readonly inherited: readonly Letter[];
}

async function readMail({ mail }: AgentHost, order: Order): Promise<Unread> {
  const read = async (generation: number): Promise<readonly Letter[]> =>
    (await mail.read(workflowIdOf({ ...order, generation }))).map(letterIn);
  const before = order.generation > 1 ? await read(order.generation - 1) : [];
  const inherited = before.filter((letter) => isInherited(order, letter));
  return { own: await read(order.generation), inherited };
}

function reasonIn(letters: readonly Letter[]): string | undefined {
  const letter = letters.find((one) => one.type === 'cancel');
  return letter?.type === 'cancel' ? letter.reason : undefined;
}
