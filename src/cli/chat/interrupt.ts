import { RerailError } from '../../errors/rerail-error.ts';
import type { Chat } from './chat.ts';
import type { StopName } from './chat-parts.ts';

/** Twice within so long means: at once. */
const impatienceMs = 2000;
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const satisfies Record<StopName, number>;

/** Ctrl-C: first it cancels the turn, or asks whether to leave; a second time soon after, it leaves at once. */
export function interrupt(chat: Chat): void {
  if (noteInterrupt(chat)) return leaveAtOnce(chat);
  const { state, face } = chat;
  if (state.type === 'running') {
    face.say('Cancelling this turn. Ctrl-C again within two seconds leaves at once.', 'recovery');
    state.controller.abort('Ctrl-C');
    return;
  }
  face.say('Press Ctrl-C again within two seconds to leave, or Ctrl-D.', 'dim');
}

/** Remembers a Ctrl-C. Gives whether it is the second one in a short time. */
export function noteInterrupt(chat: Chat): boolean {
  const nowMs = chat.parts.clock.monotonicMs();
  const isSecond = nowMs - chat.interruptedAtMs <= impatienceMs;
  chat.interruptedAtMs = nowMs;
  return isSecond;
}

/** What is on record stays: a run in progress is found interrupted, and can be resumed. */
function leaveAtOnce(chat: Chat): void {
  const { state, face, io, parts } = chat;
  const runId = state.type === 'running' ? state.runId : undefined;
  if (runId !== undefined)
    face.say(`Left at once. Resume with: ${io.command} resume ${runId}${parts.storeFlag}`, 'recovery');
  chat.state = { type: 'ended' };
  face.close();
  parts.exit(exitCodes.SIGINT);
}

// The process is about to be ended from outside, so there is little time.
const releaseMs = 1000;

/** The terminal is gone, or the process is asked to end: the run is released as it is, and can be resumed. */
export function stopFromOutside(chat: Chat, name: StopName): void {
  if (name === 'SIGINT') return interrupt(chat);
  const { state, parts, agent, face } = chat;
  if (state.type === 'ended') return;
  chat.state = { type: 'ended' };
  const leave = (): void => {
    cancelTimer();
    // To a terminal that is gone nothing can be written, and it cannot be given back.
    if (name !== 'SIGHUP') face.close();
    parts.exit(exitCodes[name]);
  };
  const cancelTimer = parts.clock.after(releaseMs, leave);
  const released = state.type === 'running' ? agent.agent.release(state.runId) : Promise.resolve();
  void released
    .catch((error: unknown) => {
      // It has just ended, or cannot be recorded: its record says which, and its lease expires.
      if (!RerailError.isInstance(error)) throw error;
    })
    .finally(leave);
}
