import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The idle connections to one host that the next request takes at once, the latest last. */
export type IdleSockets = KnownSocket[];

// On the socket itself, for a weak map costs more than all else here.
const idleKey = Symbol('idle-since');
// Where Node notes the latest request. It must go when that is over, or it keeps the whole call in memory.
const requestKey = '_httpMessage';

/** A socket with what is noted on it, and what Node keeps there. */
interface KnownSocket extends Socket {
  /** Absent before the first use; `false` while it is used. */
  [idleKey]?: number | false;
  [requestKey]?: (ClientRequest & { readonly res?: IncomingMessage }) | null;
}

/** What a request hands down through the agent. */
export interface HandedDown {
  readonly idleSockets?: IdleSockets | undefined;
  /** Takes none of them, but may give its own back. */
  readonly isFresh?: true | undefined;
}

/** Where Node's agents differ from their types: a request comes to them this way, as to all that stand in for one. */
interface AgentInside {
  addRequest: (request: ClientRequest, options: HandedDown) => void;
}

/**
 * Notes when a connection becomes idle, so that `dropStaleSockets` can tell. Closes one on which something comes that
 * nobody asked for: what follows would be taken for the answer to the next request.
 *
 * A request that brings its host's `idleSockets` takes the latest of them, and gives its own back to them. What the agent does
 * with a connection between two requests (names, lists, timers) costs as much as a third of the whole exchange; to
 * the agent such a connection is in use all the while, so that its bounds hold, and whatever is not plain is left to it.
 */
export function watchFreeSockets<T extends Agent>(agent: T, maxIdleMs: number): T {
  const inside = agent as unknown as AgentInside; // See there.
  const addRequest = inside.addRequest.bind(agent);
  inside.addRequest = (request, options) => {
    const socket = options.isFresh === true ? undefined : takeIdle(options.idleSockets, maxIdleMs);
    if (socket === undefined) return addRequest(request, options);
    request.reusedSocket = true;
    socket.ref();
    return request.onSocket(socket);
  };
  const keepers = agent.listeners('free');
  agent.removeAllListeners('free');
  agent.on('free', (socket: KnownSocket, options: HandedDown) => {
    const { idleSockets } = options;
    if (socket[idleKey] === undefined) watchSocket(socket, idleSockets);
    if (idleSockets !== undefined && isPlain(agent, socket, maxIdleMs))
      keepIdle(socket, { agent, idleSockets, maxIdleMs });
    else for (const keep of keepers) keep.call(agent, socket, options);
    socket[idleKey] = performance.now();
  });
  return agent;
}

/** The connection has a request again. */
export function markBusy(socket: KnownSocket): void {
  if (socket[idleKey] !== undefined) socket[idleKey] = false;
}

/**
 * Closes connections that have been idle for too long. The agent has a timer for that, but after a pause of the whole
 * process a request may come before the timer does, and would go out on a connection that the server has closed.
 */
export function dropStaleSockets(agent: Agent, maxIdleMs: number): void {
  for (const name in agent.freeSockets) {
    for (const socket of agent.freeSockets[name] ?? []) if (isStale(socket, maxIdleMs)) socket.destroy();
  }
}

/** Closes all idle connections to one host: where the server has closed one, it has most likely closed them all. */
export function dropFreeSockets(agent: Agent, address: string): void {
  for (const name in agent.freeSockets) {
    if (!name.startsWith(`${address}:`)) continue;
    for (const socket of agent.freeSockets[name] ?? []) socket.destroy();
  }
}

function isStale({ [idleKey]: sinceMs }: KnownSocket, maxIdleMs: number): boolean {
  return typeof sinceMs === 'number' && performance.now() - sinceMs >= maxIdleMs;
}

function takeIdle(idle: IdleSockets | undefined, maxIdleMs: number): KnownSocket | undefined {
  // Ends with the list, which is bounded: see `keepIdle`.
  for (let socket = idle?.pop(); socket !== undefined; socket = idle?.pop()) {
    if (!socket.destroyed && socket.writable && !isStale(socket, maxIdleMs)) return socket;
    socket.destroy();
  }
  return undefined;
}

/** Once for each connection. */
function watchSocket(socket: KnownSocket, idleSockets: IdleSockets | undefined): void {
  const closeIfIdle = (): void => {
    if (socket[idleKey] !== false) socket.destroy();
  };
  socket.on('data', closeIfIdle);
  if (idleSockets === undefined) return;
  socket.on('timeout', closeIfIdle);
  // An error between two requests closes the connection, and is nobody's.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const index = idleSockets.indexOf(socket);
    if (index !== -1) idleSockets.splice(index, 1);
  });
}

/** Whether a connection can be kept without more ado: it had a request, is sound, and nobody waits for one. */
function isPlain(agent: Agent, socket: KnownSocket, maxIdleMs: number): boolean {
  const request = socket[requestKey];
  if (!request?.shouldKeepAlive || !socket.writable) return false;
  if (Object.keys(agent.requests).length > 0) return false;
  return isKeptFor(request.res?.headers['keep-alive'], maxIdleMs);
}

let lastAnnounced = { text: '', seconds: Infinity };
// Node keeps away from the end that a server announces by this much.
const bufferMs = 1000;

/** Whether the server keeps the connection for as long as we do, by what it announces. */
function isKeptFor(keepAlive: unknown, maxIdleMs: number): boolean {
  if (typeof keepAlive !== 'string') return true;
  if (keepAlive !== lastAnnounced.text) {
    // A server says the same every time.
    lastAnnounced = { text: keepAlive, seconds: Number(/^timeout=(\d+)/.exec(keepAlive)?.[1] ?? Infinity) };
  }
  return lastAnnounced.seconds * 1000 - bufferMs >= maxIdleMs;
}

interface Keeping {
  readonly agent: Agent;
  readonly idleSockets: IdleSockets;
  readonly maxIdleMs: number;
}

function keepIdle(socket: KnownSocket, { agent, idleSockets, maxIdleMs }: Keeping): void {
  if (idleSockets.length >= agent.maxFreeSockets) {
    socket.destroy();
    return;
  }
  socket[requestKey] = null;
  socket.unref();
  // As the agent does: a timer that is set once, and that every byte puts off.
  if (socket.timeout !== maxIdleMs) socket.setTimeout(maxIdleMs);
  idleSockets.push(socket);
}
