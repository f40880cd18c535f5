import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';

// On the socket itself, for a weak map costs more than all else here.
const idleKey = Symbol('idle-since');

interface MarkedSocket extends Duplex {
  [idleKey]?: number;
}

/** Notes when a connection becomes idle, so that `dropStaleSockets` can tell. */
export function watchFreeSockets<T extends Agent>(agent: T): T {
  agent.on('free', (socket: MarkedSocket) => {
    socket[idleKey] = performance.now();
  });
  return agent;
}

/**
 * Closes connections that have been idle for too long. The agent has a timer for that, but after a pause of the whole
 * process a request may come before the timer does, and would go out on a connection that the server has closed.
 */
export function dropStaleSockets(agent: Agent, maxIdleMs: number): void {
  for (const name in agent.freeSockets) {
    for (const socket of agent.freeSockets[name] ?? []) {
      const sinceMs = (socket as MarkedSocket)[idleKey];
      if (sinceMs !== undefined && performance.now() - sinceMs >= maxIdleMs) socket.destroy();
    }
  }
}
