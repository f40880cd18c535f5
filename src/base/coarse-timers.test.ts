import { describe, expect, it } from 'vitest';
import { createCoarseTimers } from './coarse-timers.ts';

interface Stage {
  readonly after: (delayMs: number, callback: () => void) => () => void;
  readonly moveTo: (nowMs: number) => void;
  readonly isTicking: () => boolean;
  readonly isHolding: () => boolean;
}

/** A ticking that a test moves by hand. */
function setUp(): Stage {
  let nowMs = 0;
  let ticked: (() => void) | undefined;
  let isHolding = false;
  const timers = createCoarseTimers({
    nowMs: () => nowMs,
    startTicking: (_everyMs, tick) => {
      ticked = tick;
      return { ref: () => (isHolding = true), unref: () => (isHolding = false) };
    },
    stopTicking: () => {
      ticked = undefined;
    },
  });
  return {
    after: timers.after,
    moveTo: (targetMs) => {
      while (nowMs < targetMs) {
        nowMs += 100;
        ticked?.();
      }
    },
    isTicking: () => ticked !== undefined,
    isHolding: () => isHolding,
  };
}

describe('createCoarseTimers()', () => {
  it('fires once, never early, and at most a tick late', () => {
    const stage = setUp();
    const fired: string[] = [];
    stage.after(5050, () => fired.push('a'));
    stage.after(6000, () => fired.push('b'));
    stage.moveTo(5000);
    expect(fired).toEqual([]);
    stage.moveTo(5100);
    expect(fired).toEqual(['a']);
    stage.moveTo(9000);
    expect(fired).toEqual(['a', 'b']);
  });

  it('does not fire what was called off, also in the tick that would fire it', () => {
    const stage = setUp();
    const fired: string[] = [];
    const cancelSecond = { run: (): void => undefined };
    stage.after(5000, () => {
      fired.push('first');
      cancelSecond.run();
    });
    cancelSecond.run = stage.after(5000, () => fired.push('second'));
    stage.moveTo(6000);
    expect(fired).toEqual(['first']);
  });

  it('keeps the process alive exactly as long as somebody waits', () => {
    const stage = setUp();
    const cancel = stage.after(5000, () => undefined);
    expect(stage.isHolding()).toBe(true);
    cancel();
    cancel();
    expect(stage.isHolding()).toBe(false);
    stage.after(5000, () => undefined);
    expect(stage.isHolding()).toBe(true);
    stage.moveTo(5100);
    expect(stage.isHolding()).toBe(false);
  });

  it('stops ticking when it was idle for a while, and starts again', () => {
    const stage = setUp();
    stage.after(5000, () => undefined)();
    stage.moveTo(900);
    expect(stage.isTicking()).toBe(true);
    stage.moveTo(3000);
    expect(stage.isTicking()).toBe(false);
    stage.after(5000, () => undefined);
    expect(stage.isTicking()).toBe(true);
  });
});
