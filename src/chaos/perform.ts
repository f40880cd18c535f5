import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { unreachable } from '../base/assert.ts';
import { onAbort, wait } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Ending } from './records.ts';
import type { Step } from './steps.ts';

/** What the steps are done to. */
export interface Channel {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** The connection below TLS, for only that can be reset. */
  readonly reset: () => void;
  /** Aborts when the connection is gone, whoever ended it. */
  readonly gone: AbortSignal;
  readonly clock: Clock;
  readonly onDelivered: () => void;
  readonly onStatus: (status: number) => void;
  readonly onBytes: (count: number) => void;
  /** Before the last byte of a whole answer goes out. */
  readonly onFinish: () => void;
}

/** Does one step after the other until they end or the connection is gone. Never rejects. */
export async function perform(steps: Iterable<Step>, channel: Channel): Promise<Ending> {
  let ending: Ending = 'finished';
  for (const step of steps) {
    if (step.type === 'delivered') {
      channel.onDelivered();
      continue;
    }
    if (ending !== 'finished') break;
    if (channel.gone.aborted) return 'closed-by-client';
    ending = await performStep(step, channel);
  }
  return ending;
}

async function performStep(step: Exclude<Step, { type: 'delivered' }>, channel: Channel): Promise<Ending> {
  const { response, socket, gone, clock } = channel;
  switch (step.type) {
    case 'wait':
      await wait(step.delayMs, { clock, signal: gone });
      return 'finished';
    case 'head': {
      const { status, statusText, headers } = step.reply;
      const framing = step.length === 'chunked' ? {} : { 'content-length': String(step.length) };
      channel.onStatus(status);
      response.writeHead(status, statusText, copyHeaders({ ...headers, ...framing }));
      response.flushHeaders();
      return 'finished';
    }
    case 'body':
      channel.onBytes(step.bytes.length);
      await written(gone, (callback) => response.write(step.bytes, callback));
      return 'finished';
    case 'raw':
      channel.onBytes(step.bytes.length);
      await written(gone, (callback) => socket.write(step.bytes, callback));
      return 'finished';
    case 'finish':
      channel.onFinish();
      await written(gone, (callback) => response.end(callback));
      return 'finished';
    case 'close':
      socket.destroySoon();
      return 'closed-by-us';
    case 'reset':
      channel.reset();
      return 'reset-by-us';
    case 'silence':
      await new Promise<void>((resolve) => void onAbort(gone, resolve));
      return 'closed-by-client';
    default:
      return unreachable(step);
  }
}

/** Waits until the bytes have left us, or until nobody is there to take them. */
function written(gone: AbortSignal, write: (callback: () => void) => unknown): Promise<void> {
  return new Promise((resolve) => {
    const stop = onAbort(gone, resolve);
    write(() => {
      stop();
      resolve();
    });
  });
}

/** Node wants lists that it may keep. */
function copyHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
): Record<string, string | string[]> {
  const entries = Object.entries(headers).map(([name, value]): [string, string | string[]] => {
    return [name, typeof value === 'string' ? value : [...value]];
  });
  return Object.fromEntries(entries);
}
