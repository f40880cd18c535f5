import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onAbort } from '../../../base/abort.ts';
import { isAllowableByName, isSameAddress, kindOfAddress } from './fetch-address.ts';
import type { AddressKind } from './fetch-address.ts';
import { failureOfNetwork, failureOfResolving } from './fetch-failures.ts';
import type { FetchTarget } from './fetch-target.ts';
import { workspaceError } from '../workspace-error.ts';

// Invariants. A name is resolved once. Every address that it stands for is checked, whichever is dialled. What is dialled is the
// checked address itself, never the name; and the other end of the connection is compared with it before a byte is sent. So
// there is no second look-up that could say something else.

/** Gives all addresses that a name stands for. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface FetchDeps {
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
}

const maxHeaderBytes = 16 * 1024;
const maxDialled = 3;

/** Sends one GET and waits for status and headers. The socket ends with the signal; whoever takes the answer destroys it. */
export async function sendGet(target: FetchTarget, { resolve, signal }: FetchDeps): Promise<IncomingMessage> {
  const addresses = await resolveChecked(target, { resolve, signal });
  const socket = await dialFirst(target, addresses, signal);
  const stopListening = onAbort(signal, () => socket.destroy());
  socket.once('close', stopListening);
  try {
    const stream = target.isSecure ? await secure(target, socket) : socket;
    return await exchange(target, stream);
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw failureOfNetwork(error, target);
  }
}

async function resolveChecked(
  target: FetchTarget,
  { resolve, signal }: FetchDeps,
): Promise<readonly string[]> {
  const { host } = target;
  const addresses = isIP(host) === 0 ? await untilAborted(resolve(host), signal, target) : [host];
  if (addresses.length === 0) throw failureOfResolving(undefined, target);
  for (const address of addresses) checkAddress(target, address);
  return addresses.slice(0, maxDialled);
}

/** A look-up cannot be called off; what it says later is nobody's business. */
function untilAborted(
  looking: Promise<readonly string[]>,
  signal: AbortSignal,
  target: FetchTarget,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason));
    looking
      .finally(stopListening)
      .then(resolve, (error: unknown) => reject(failureOfResolving(error, target)));
  });
}

function checkAddress({ host, isListed }: FetchTarget, address: string): void {
  const kind = kindOfAddress(address);
  if (kind === undefined) return;
  // Who has listed an address means it; who has listed a name leaves to somebody else what it stands for.
  if (isListed && (isIP(host) !== 0 || isAllowableByName(kind))) return;
  const what =
    isIP(host) === 0 ? `the address ${address} that "${host}" stands for` : `the address ${address}`;
  throw workspaceError(
    'PERMISSION_DENIED',
    `Cannot fetch from "${host}": ${what} is not public (${wordFor(kind)})`,
    {
      hint: 'Only public addresses are fetched. Whoever runs this agent can list a host and port in allowPrivate of the fetch tool.',
      context: { host, address, kind },
    },
  );
}

function wordFor(kind: AddressKind): string {
  if (kind === 'metadata') return 'where clouds hand out credentials';
  return kind === 'not-global' ? 'of no public range' : kind;
}

/** The first that answers: many networks have no way to one of the two families. */
async function dialFirst(
  target: FetchTarget,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  let failed: unknown;
  for (const address of addresses) {
    try {
      return await dial(address, target.port, signal);
    } catch (error) {
      signal.throwIfAborted();
      failed ??= error;
    }
  }
  throw failureOfNetwork(failed, target);
}

function dial(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, port, family: isIP(address), autoSelectFamily: false });
    const stopListening = onAbort(signal, () => socket.destroy(new Error('called off')));
    // For as long as it lives: an error that comes when nobody waits any more must not end the process.
    socket.on('error', (error) => {
      stopListening();
      reject(error);
    });
    socket.once('connect', () => {
      stopListening();
      if (isSameAddress(socket.remoteAddress ?? '', address)) {
        resolve(socket);
        return;
      }
      const seen = socket.remoteAddress ?? 'nobody';
      socket.destroy(new Error(`the connection to ${address} was answered by ${seen}`));
    });
  });
}

function secure({ host }: FetchTarget, socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : { host, servername: '' };
    const stream = connectTls({ socket, ...name, ALPNProtocols: ['http/1.1'] }, () => resolve(stream));
    stream.on('error', reject);
    // A socket that is destroyed without an error would leave us waiting.
    socket.once('close', () => reject(new Error('the connection was closed during the TLS handshake')));
  });
}

function exchange({ url }: FetchTarget, stream: Socket): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      setHost: false,
      headers: {
        host: url.host,
        'user-agent': 'rerail-fetch',
        accept: 'text/html,application/xhtml+xml,text/plain,application/json,application/xml;q=0.9,*/*;q=0.1',
        'accept-encoding': 'gzip, br',
        connection: 'close',
      },
      maxHeaderSize: maxHeaderBytes,
      createConnection: () => stream,
    });
    outgoing.once('error', reject);
    outgoing.once('upgrade', () => reject(new Error('the server switched to another protocol')));
    outgoing.once('response', resolve);
    outgoing.end();
  });
}
