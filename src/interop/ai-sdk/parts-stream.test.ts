import { describe, expect, it } from 'vitest';
import { createPartsStream } from './parts-stream.ts';

const part = { type: 'raw' };

describe('createPartsStream()', () => {
  it('makes the sender wait when too much lies unread, and go on when the reader has caught up', async () => {
    const { stream, send, end } = createPartsStream(() => undefined);
    let sent = 0;
    let isDone = false;
    const sending = (async () => {
      for (; sent < 200; sent += 1) await send(part);
      isDone = true;
      end({ type: 'finish' });
    })();
    await new Promise(setImmediate);
    expect([sent, isDone]).toEqual([63, false]); // The 64th is there, and its sender waits.
    const read = [];
    for await (const each of stream) read.push(each);
    await sending;
    expect(read).toHaveLength(201);
  });

  it('lets the sender go when the reader goes away, and takes no more', async () => {
    let cancellations = 0;
    const { stream, send, end } = createPartsStream(() => (cancellations += 1));
    for (let sent = 0; sent < 63; sent += 1) expect(send(part)).toBeUndefined();
    const waiting = send(part);
    expect(waiting).toBeInstanceOf(Promise);
    await stream.cancel();
    await waiting;
    expect(send(part)).toBeUndefined();
    end(part);
    expect(cancellations).toBe(1);
  });
});
