import type { Message } from '../../model/message.ts';

/**
 * The conversation of a run. To add to a list is to copy it, and a long run would copy ever more: so the latest messages stand
 * apart, and join the others from time to time.
 */
export interface History {
  readonly settled: readonly Message[];
  readonly recent: readonly Message[];
}

const maxRecent = 64;

/** A conversation that begins with these. */
export function startHistory(messages: readonly Message[]): History {
  return { settled: messages, recent: [] };
}

/** The same, and these after it. */
export function addMessages({ settled, recent }: History, ...messages: readonly Message[]): History {
  const latest = recent.concat(messages);
  return latest.length <= maxRecent
    ? { settled, recent: latest }
    : { settled: settled.concat(latest), recent: [] };
}

/** The same, but for its latest messages. */
export function withoutLast({ settled, recent }: History, count: number): History {
  if (count <= recent.length) return { settled, recent: recent.slice(0, recent.length - count) };
  return { settled: settled.slice(0, Math.max(0, settled.length + recent.length - count)), recent: [] };
}

/** All of it, as a list. */
export function messagesOf({ settled, recent }: History): readonly Message[] {
  // Not by spreading, here and above: engines copy a list element by element for that, and this one may be long.
  return settled.concat(recent);
}

/** The latest message, if there is one. */
export function lastMessage({ settled, recent }: History): Message | undefined {
  return recent.at(-1) ?? settled.at(-1);
}
