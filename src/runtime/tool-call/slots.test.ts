import { describe, expect, it } from 'vitest';
import { createSlots } from './slots.ts';
import type { Leave } from './slots.ts';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('createSlots()', () => {
  it('refuses a number of places that is none', () => {
    expect(() => createSlots(0)).toThrow('whole number from 1 on');
  });

  it('gives up the wait at the signal, and leaves the place to the next', async () => {
    const slots = createSlots(1);
    const leave = slots.enter({ signal: never }) as Leave; // A free place is given at once.
    const controller = new AbortController();
    const waiting = slots.enter({ signal: controller.signal });
    const next = slots.enter({ signal: never });
    controller.abort(new Error('no longer'));
    await expect(waiting).rejects.toThrow('no longer');
    await expect(async () => slots.enter({ signal: controller.signal })).rejects.toThrow('no longer');
    leave();
    expect(await next).toBeTypeOf('function');
  });

  it('serves in the order of asking and never lets in more than there are places', async () => {
    const slots = createSlots(2);
    const order: number[] = [];
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const leave = await slots.enter({ signal: never });
        order.push(index);
        inside += 1;
        most = Math.max(most, inside);
        await turn();
        inside -= 1;
        leave();
        leave();
      }),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(most).toBe(2);
  });
});
