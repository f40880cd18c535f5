import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';

// On the socket itself, for a weak map costs more than all else here.
const idleKey = Symbol('idle-since');

interface MarkedSocket extends Duplex {
  /** Absent before the first use; `false` while it is used. */
  [idleKey]?: number | false;
}

/**
 * Notes when a connection becomes idle, so that `dropStaleSockets` can tell. Closes one on which something comes that
 * nobody asked for: what follows would be taken for the answer to the next request.
 */
export function watchFreeSockets<T extends Agent>(agent: T): T {
  agent.on('free', (socket: MarkedSocket) => {
    if (socket[idleKey] === undefined) {
      socket.on('data', () => {
        if (socket[idleKey] !== false) socket.destroy();
      });
    }
    socket[idleKey] = performance.now();
  });
  return agent;
}

/** The connection has a request again. */
export function markBusy(socket: MarkedSocket): void {
  if (socket[idleKey] !== undefined) socket[idleKey] = false;
}

/**
 * Closes connections that have been idle for too long. The agent has a timer for that, but after a pause of the whole
 * process a request may come before the timer does, and would go out on a connection that the server has closed.
 */
export function dropStaleSockets(agent: Agent, maxIdleMs: number): void {
  for (const name in agent.freeSockets) {
    for (const socket of agent.freeSockets[name] ?? []) {
      const sinceMs = (socket as MarkedSocket)[idleKey];
      if (typeof sinceMs === 'number' && performance.now() - sinceMs >= maxIdleMs) socket.destroy();
    }
  }
}
