import type { Failure } from '../../errors/failure.ts';
import type { Store } from '../../model/store/store.ts';
import type { WholeSession } from '../../model/store/whole-run.ts';
import { otherMessages } from './copy-failures.ts';
import type { Copying } from './copy-family.ts';

/** What became of the conversations. */
export interface CopiedSessions {
  readonly written: number;
  /** How many messages each had. */
  readonly copies: ReadonlyMap<string, number>;
  /** Those that are other ones over there, with what to say of their runs. */
  readonly refused: ReadonlyMap<string, Failure>;
}

/** Before the runs: the process that resumes one over there adds to its conversation. Nothing named means all. */
export async function copySessions(
  copying: Copying,
  sessionIds: ReadonlySet<string> | undefined,
): Promise<CopiedSessions> {
  const copies = new Map<string, number>();
  const refused = new Map<string, Failure>();
  let written = 0;
  for await (const sessionId of sessionIds ?? idsOf(copying)) {
    copying.signal?.throwIfAborted();
    const whole = await copying.from.sessions.whole(sessionId);
    if (whole === undefined) continue;
    const end = await writeSession(copying.to, whole);
    if (end === 'other') refused.set(sessionId, otherMessages(copying.to, sessionId));
    else copies.set(sessionId, whole.messages.length);
    written += end === 'written' ? 1 : 0;
  }
  return { written, copies, refused };
}

/** Takes away those that no run here needs any more and that nothing was added to. */
export async function removeSessions(
  { from, signal }: Copying,
  copies: CopiedSessions['copies'],
): Promise<void> {
  for (const [sessionId, messages] of copies) {
    signal?.throwIfAborted();
    const { runs } = await from.runs.list({ sessionId, limit: 1 });
    const session = await from.sessions.find(sessionId);
    if (runs.length === 0 && session?.messages === messages) await from.sessions.remove(sessionId);
  }
}

async function* idsOf({ from }: Copying): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await from.sessions.list({
      limit: pageSessions,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { sessionId } of page.sessions) yield sessionId;
    cursor = page.next;
  } while (cursor !== undefined);
}

const pageSessions = 100;

async function writeSession(to: Store, whole: WholeSession): Promise<'written' | 'there' | 'other'> {
  const { sessionId } = whole.row;
  if ((await to.sessions.restore(whole)) === 'restored') return 'written';
  const there = await to.sessions.whole(sessionId);
  const [own, others] = [textsOf(whole), textsOf(there)];
  const common = Math.min(own.length, others.length);
  if (own.slice(0, common).join('\n') !== others.slice(0, common).join('\n')) return 'other';
  const known = new Set(there?.runIds);
  const runIds = whole.runIds.filter((runId) => !known.has(runId));
  if (runIds.length === 0) return own.length > common ? 'other' : 'there';
  // It has continued here since it was copied. Its newest runs are known over there by what they have added together.
  const rest = whole.messages.slice(common).map(({ message }) => message);
  for (const [index, runId] of runIds.entries())
    await to.sessions.append(sessionId, index === 0 ? rest : [], runId);
  return 'written';
}

/** JSON has no line breaks of its own. */
function textsOf(whole: WholeSession | undefined): readonly string[] {
  return whole?.messages.map(({ message }) => JSON.stringify(message)) ?? [];
}
