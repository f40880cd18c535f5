import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { chaosConfigError } from './config-error.ts';

// A connection that is never made. Node accepts whatever comes, and so does every system for a program that does not,
// until the queue of those who wait is full. So a thread listens with the shortest queue there is and then stands still,
// and the queue is filled from here: whoever comes next gets no answer to the first packet it sends.

/** A port on which connecting hangs. */
export interface DeafServer {
  readonly url: string;
  readonly port: number;
  /** Lets go of everything. */
  readonly close: () => Promise<void>;
}

const maxFillers = 64;
/** On loopback a connection is made at once, or never. */
const patienceMs = 400;

/** Starts it on 127.0.0.1. Rejects where the system takes every connection however full its queue is. */
export async function startDeafServer(): Promise<DeafServer> {
  const lock = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(listenAndStandStill, { eval: true, workerData: lock });
  const fillers: Socket[] = [];
  const close = async (): Promise<void> => {
    for (const filler of fillers) filler.destroy();
    Atomics.store(lock, 0, 1);
    Atomics.notify(lock, 0);
    await worker.terminate();
  };
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  for (let count = 0; count < maxFillers; count += 1) {
    const filler = connect({ port, host: '127.0.0.1' });
    fillers.push(filler);
    if (!(await isConnected(filler))) return { url: `http://127.0.0.1:${port}`, port, close };
  }
  await close();
  throw chaosConfigError(
    'A connection that hangs cannot be had on this system: its queue of waiting connections does not fill up',
    'Use the fault header-hang of startChaosServer instead',
  );
}

/** Plain JavaScript, for it runs in a thread of its own without a file. */
const listenAndStandStill = `
const { parentPort, workerData } = require('node:worker_threads');
const server = require('node:net').createServer((socket) => socket.destroy());
server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(workerData, 0, 0);
  server.close();
});
`;

function isConnected(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), patienceMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.on('error', () => {
      // When it is closed, those who waited are turned away. Until then there is no error on loopback.
      clearTimeout(timer);
      resolve(false);
    });
  });
}
