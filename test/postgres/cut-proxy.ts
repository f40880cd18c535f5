import { once } from 'node:events';
import net from 'node:net';

/** A wire between a store and its server, which a test cuts. */
export interface CutProxy {
  readonly port: number;
  /** What to do with the next messages; `pass` until told. */
  readonly cut: (rule: CutRule) => void;
  /** How often the wire was cut by the last rule. */
  readonly cuts: () => number;
  /** How many messages were sent to the server so far. */
  readonly heard: () => number;
  /** Refuses new connections and cuts the others, or takes them again. */
  readonly setDown: (isDown: boolean) => void;
  /** From now on nothing gets through in any direction, and nobody is told, also not of an end. */
  readonly fallSilent: () => void;
  /** Where new connections lead from now on; those that are open are cut. */
  readonly leadTo: (serverPort: number) => void;
  readonly close: () => Promise<void>;
}

/** When the wire is cut: as soon as these bytes are sent. */
export interface CutRule {
  /**
   * - `before`: the server never hears of it.
   * - `after`: the server has done it, and its answer is lost.
   * - `hang`: the server has done it, and nothing more is ever heard.
   */
  readonly when: 'before' | 'after' | 'hang';
  /** Occurs in what is sent. */
  readonly sent: string;
  /** So many times; once unless told. */
  readonly times?: number;
  /** So many such messages get through first, and between two cuts; none unless told. */
  readonly skip?: number;
  /** At that very moment nobody gets through any more, as after `setDown(true)`. */
  readonly staysDown?: boolean;
}

/** Passes everything on to a server until it is told otherwise. */
export async function startCutProxy(serverPort: number): Promise<CutProxy> {
  const held: Held = {
    serverPort,
    rule: undefined,
    left: 0,
    skip: 0,
    cuts: 0,
    heard: 0,
    isDown: false,
    isSilent: false,
    sockets: new Set(),
  };
  const server = net.createServer({ allowHalfOpen: true }, (client) => join(held, client));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port');
  return {
    port: address.port,
    cut: (rule) => {
      held.rule = rule;
      held.left = rule.times ?? 1;
      held.skip = rule.skip ?? 0;
      held.cuts = 0;
    },
    cuts: () => held.cuts,
    heard: () => held.heard,
    setDown: (isDown) => {
      held.isDown = isDown;
      if (isDown) for (const socket of held.sockets) socket.destroy();
    },
    fallSilent: () => {
      held.isSilent = true;
    },
    leadTo: (port) => {
      held.serverPort = port;
      for (const socket of held.sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of held.sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Held {
  serverPort: number;
  rule: CutRule | undefined;
  left: number;
  skip: number;
  cuts: number;
  heard: number;
  isDown: boolean;
  isSilent: boolean;
  readonly sockets: Set<net.Socket>;
}

function join(held: Held, client: net.Socket): void {
  if (held.isDown) {
    client.destroy();
    return;
  }
  const server = net.connect(held.serverPort, '127.0.0.1');
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  /** From here on nothing of the server gets through. */
  let isDeaf: CutRule['when'] | undefined;
  for (const socket of [client, server]) {
    held.sockets.add(socket);
    socket.on('error', end);
    socket.on('end', () => {
      if (!held.isSilent) end();
    });
    socket.on('close', () => {
      held.sockets.delete(socket);
      end();
    });
  }
  client.on('data', (chunk) => {
    const { rule } = held;
    held.heard += 1;
    if (held.isSilent) return undefined;
    const isMeant = rule !== undefined && held.left > 0 && chunk.includes(rule.sent);
    if (isMeant && held.skip > 0) held.skip -= 1;
    else if (isMeant) {
      held.left -= 1;
      held.cuts += 1;
      held.skip = rule.skip ?? 0;
      if (rule.when === 'before') return end();
      isDeaf = rule.when;
    }
    server.write(chunk);
    return undefined;
  });
  server.on('data', (chunk) => {
    if (held.isSilent) return;
    if (isDeaf === undefined) client.write(chunk);
    else if (isDeaf === 'after') {
      if (held.rule?.staysDown === true) held.isDown = true;
      end();
    }
  });
}
