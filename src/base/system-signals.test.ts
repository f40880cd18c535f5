import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemSignals } from './system-signals.ts';
import type { SignalNotice, StopSignal } from './system-signals.ts';

describe('systemSignals', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    { name: 'SIGTERM', code: 143 },
    { name: 'SIGINT', code: 130 },
  ] as const)('ends the process by $name with the code $code, once nobody listens', ({ name, code }) => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const first = systemSignals.listen(() => undefined);
    const second = systemSignals.listen(() => undefined);
    first();
    first();
    systemSignals.exit(name);
    expect(exit).not.toHaveBeenCalled();
    second();
    systemSignals.exit(name);
    expect(exit).toHaveBeenCalledExactlyOnceWith(code);
  });

  it('tells every listener, says whether others listen too, and leaves nothing behind', () => {
    const foreign = takeAway('SIGTERM');
    const heard: SignalNotice[] = [];
    const stop = systemSignals.listen((notice) => heard.push(notice));
    process.emit('SIGTERM', 'SIGTERM');
    process.once('SIGTERM', () => undefined);
    process.emit('SIGTERM', 'SIGTERM');
    process.emit('SIGTERM', 'SIGTERM');
    stop();
    expect(heard.map(({ isShared }) => isShared)).toEqual([false, true, false]);
    expect(process.listenerCount('SIGTERM')).toBe(0);
    for (const listener of foreign) process.on('SIGTERM', listener);
  });
});

/** Whatever runs the tests may listen itself. */
function takeAway(name: StopSignal): readonly NodeJS.SignalsListener[] {
  const listeners = process.listeners(name);
  process.removeAllListeners(name);
  return listeners;
}
