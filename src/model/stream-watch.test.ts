import { describe, expect, it } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { checkTimeouts, completeTimeouts, createStreamWatch } from './stream-watch.ts';
import type { StreamWatch, TimeoutKind } from './stream-watch.ts';
import { defaultTimeouts } from './timeouts.ts';
import type { Timeouts } from './timeouts.ts';

const timeouts: Timeouts = { connectMs: 100, headersMs: 200, idleMs: 300, progressMs: 1000, totalMs: 5000 };

interface HandClock extends Clock {
  readonly advance: (ms: number) => void;
  readonly timersSet: () => number;
  readonly timersOpen: () => number;
}

/** A clock that is moved by hand and counts its timers. */
function handClock(): HandClock {
  let nowMs = 1000;
  let set = 0;
  const open = new Map<number, { readonly dueMs: number; readonly callback: () => void }>();
  return {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: (delayMs, callback) => {
      set += 1;
      const id = set;
      open.set(id, { dueMs: nowMs + delayMs, callback });
      return () => open.delete(id);
    },
    advance: (ms) => {
      const endMs = nowMs + ms;
      for (let round = 0; round < 10_000; round += 1) {
        const [next] = [...open].toSorted(([, a], [, b]) => a.dueMs - b.dueMs);
        if (next === undefined || next[1].dueMs > endMs) break;
        open.delete(next[0]);
        nowMs = Math.max(nowMs, next[1].dueMs);
        next[1].callback();
      }
      nowMs = endMs;
    },
    timersSet: () => set,
    timersOpen: () => open.size,
  };
}

interface Watched {
  readonly clock: HandClock;
  readonly watch: StreamWatch;
  readonly expired: readonly TimeoutKind[];
}

function start(given: Timeouts = timeouts): Watched {
  const clock = handClock();
  const expired: TimeoutKind[] = [];
  const watch = createStreamWatch(given, { clock, onExpired: (kind) => expired.push(kind) });
  return { clock, watch, expired };
}

function reading(given: Timeouts = timeouts): Watched {
  const watched = start(given);
  watched.watch.connected();
  watched.watch.headers();
  return watched;
}

describe('createStreamWatch', () => {
  it('names the connection when it does not stand in time', () => {
    const { clock, expired } = start();
    clock.advance(99);
    expect(expired).toEqual([]);
    clock.advance(1);
    expect(expired).toEqual(['connect']);
    expect(clock.timersOpen()).toBe(0);
  });

  it('counts the wait for headers from the connection', () => {
    const { clock, watch, expired } = start();
    clock.advance(90);
    watch.connected();
    clock.advance(199);
    expect(expired).toEqual([]);
    clock.advance(1);
    expect(expired).toEqual(['headers']);
  });

  it('counts the silence from the last event', () => {
    const { clock, watch, expired } = reading();
    clock.advance(250);
    watch.event();
    clock.advance(299);
    expect(expired).toEqual([]);
    clock.advance(1);
    expect(expired).toEqual(['idle']);
  });

  it('does not take keep-alives for progress', () => {
    const { clock, watch, expired } = reading();
    for (let count = 0; count < 9; count += 1) {
      clock.advance(100);
      watch.event();
    }
    expect(expired).toEqual([]);
    clock.advance(100);
    expect(expired).toEqual(['progress']);
  });

  it('ends an attempt that makes progress for ever', () => {
    const { clock, watch, expired } = reading();
    for (let count = 0; count < 49; count += 1) {
      clock.advance(100);
      watch.progress();
    }
    expect(expired).toEqual([]);
    clock.advance(100);
    expect(expired).toEqual(['total']);
  });

  it.each([
    { name: 'before the connection', prepare: (_watch: StreamWatch) => undefined },
    { name: 'before the headers', prepare: (watch: StreamWatch) => watch.connected() },
    {
      name: 'while reading',
      prepare: (watch: StreamWatch) => {
        watch.connected();
        watch.headers();
      },
    },
  ])('keeps the bound of the whole attempt $name', ({ prepare }) => {
    const { clock, watch, expired } = start({ ...timeouts, totalMs: 50 });
    prepare(watch);
    clock.advance(50);
    expect(expired).toEqual(['total']);
  });

  it('moves its timer forward when a later wait is the shorter one', () => {
    const { clock, watch, expired } = start({ ...timeouts, connectMs: 4000, headersMs: 10 });
    watch.connected();
    clock.advance(10);
    expect(expired).toEqual(['headers']);
  });

  it('does not blame the provider while the listener takes its time', () => {
    const { clock, watch, expired } = reading();
    watch.pause();
    clock.advance(3000);
    watch.resume();
    clock.advance(299);
    expect(expired).toEqual([]);
    clock.advance(1);
    expect(expired).toEqual(['idle']);
  });

  it('does not take a keep-alive for progress because the listener was told of it', () => {
    const { clock, watch, expired } = start({ ...timeouts, idleMs: 300, progressMs: 1000 });
    watch.connected();
    watch.headers();
    for (let count = 0; count < 12 && expired.length === 0; count += 1) {
      clock.advance(100);
      watch.event();
      watch.pause();
      clock.advance(10);
      watch.resume();
    }
    expect(expired).toEqual(['progress']);
  });

  it('bounds the whole attempt while the listener takes its time', () => {
    const { clock, watch, expired } = reading();
    watch.pause();
    clock.advance(5000);
    expect(expired).toEqual(['total']);
  });

  it('says nothing after stop, whatever it is told, and leaves no timer', () => {
    const { clock, watch, expired } = reading();
    watch.stop();
    watch.connected();
    watch.headers();
    watch.resume();
    watch.progress();
    expect(clock.timersOpen()).toBe(0);
    clock.advance(100_000);
    expect(expired).toEqual([]);
  });

  it('tells one wait only', () => {
    const { clock, watch, expired } = reading();
    clock.advance(300);
    watch.event();
    clock.advance(100_000);
    expect(expired).toEqual(['idle']);
  });

  it('sets no timer for an event', () => {
    const { clock, watch } = reading();
    const before = clock.timersSet();
    for (let count = 0; count < 20_000; count += 1) watch.progress();
    expect(clock.timersSet()).toBe(before);
  });
});

describe('checkTimeouts', () => {
  it.each([Number.NaN, Infinity, -1, -Infinity])('refuses %s', (value) => {
    const failure = checkTimeouts({ idleMs: value });
    expect(failure).toMatchObject({ code: 'CONFIG_ERROR', retryable: false });
    expect(failure?.message).toContain(`idleMs`);
    expect(failure?.message).toContain(String(value));
  });

  it('refuses what is no number', () => {
    expect(checkTimeouts({ totalMs: '5s' as unknown as number })?.code).toBe('CONFIG_ERROR');
  });

  it('takes what is in order, and nothing at all', () => {
    expect(checkTimeouts({ idleMs: 0, totalMs: 1e12 })).toBeUndefined();
    expect(checkTimeouts({})).toBeUndefined();
    expect(checkTimeouts(undefined)).toBeUndefined();
  });
});

describe('completeTimeouts', () => {
  it('fills in the defaults', () => {
    expect(completeTimeouts(undefined)).toEqual(defaultTimeouts);
    expect(completeTimeouts({ idleMs: 5 })).toEqual({ ...defaultTimeouts, idleMs: 5 });
    const loose = { idleMs: undefined } as unknown as Partial<Timeouts>;
    expect(completeTimeouts(loose)).toEqual(defaultTimeouts);
  });
});
