import { describe, expect, it } from 'vitest';
import type { ProcessSignals, StopSignal } from '../../base/system-signals.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { interruptedExitCode, listenForInterrupts } from './two-interrupts.ts';

function scene() {
  const clock = simulatedClock();
  const listeners = new Set<Parameters<ProcessSignals['listen']>[0]>();
  const told: string[] = [];
  const hangUps = new Set<() => void>();
  const interrupts = listenForInterrupts({
    clock,
    signals: {
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      exit: () => undefined,
    },
    hangUps: (listener) => {
      hangUps.add(listener);
      return () => hangUps.delete(listener);
    },
    onHangUp: async () => void told.push('let go'),
    exit: (exitCode) => told.push(`exit ${exitCode}`),
    onFirst: (name) => told.push(`first ${name}`),
    onLast: (name) => told.push(`last ${name}`),
  });
  const send = (name: StopSignal): void => {
    for (const listener of listeners) listener({ name, isShared: false });
  };
  const hangUp = (): void => {
    for (const listener of hangUps) listener();
  };
  return { clock, interrupts, send, hangUp, told, listeners };
}

describe('listenForInterrupts()', () => {
  it('ends the process at once with 130 where Ctrl-C comes twice within two seconds', async () => {
    const { clock, send, told } = scene();
    send('SIGINT');
    await clock.advance(1999);
    send('SIGINT');
    expect(told).toEqual(['first SIGINT', 'last SIGINT', 'exit 130']);
  });

  it('takes a Ctrl-C that comes later for another first one, and two of those for the end', async () => {
    const { clock, send, told } = scene();
    send('SIGINT');
    await clock.advance(2001);
    send('SIGINT');
    expect(told).toEqual(['first SIGINT']);
    await clock.advance(500);
    send('SIGINT');
    expect(told).toEqual(['first SIGINT', 'last SIGINT', 'exit 130']);
  });

  it('gives the end in order ten seconds after SIGTERM, and then ends with 143', async () => {
    const { clock, send, told, interrupts } = scene();
    send('SIGTERM');
    await clock.advance(9999);
    expect(interrupts.signal.aborted).toBe(true);
    expect(told).toEqual(['first SIGTERM']);
    await clock.advance(1);
    expect(told).toEqual(['first SIGTERM', 'last SIGTERM', 'exit 143']);
  });

  it('releases what runs where the terminal is gone, before it is cancelled, and ends with 129 in time', async () => {
    const { clock, hangUp, told, interrupts } = scene();
    hangUp();
    expect({ told, isAborted: interrupts.signal.aborted }).toEqual({
      told: ['first SIGHUP', 'let go'],
      isAborted: false,
    });
    await clock.advance(9999);
    expect(interrupts.signal.reason).toMatchObject({ message: 'The terminal was closed (SIGHUP)' });
    expect(interruptedExitCode(interrupts)).toBe(129);
    await clock.advance(1);
    expect(told).toEqual(['first SIGHUP', 'let go', 'last SIGHUP', 'exit 129']);
  });

  it('lets nothing end the process once everything is done', async () => {
    const { clock, send, told, interrupts, listeners } = scene();
    send('SIGTERM');
    interrupts.stop();
    await clock.advance(20_000);
    expect(told).toEqual(['first SIGTERM']);
    expect(listeners.size).toBe(0);
  });

  it('aborts with the first signal, and says which it was', () => {
    const { send, interrupts } = scene();
    expect(interrupts.came()).toBeUndefined();
    send('SIGINT');
    expect(interrupts.came()).toBe('SIGINT');
    expect(interrupts.signal.reason).toMatchObject({ message: 'Ctrl-C was pressed' });
  });

  it('can be triggered by a caller that reads the keys itself', () => {
    const { interrupts, told } = scene();
    interrupts.interrupt();
    interrupts.interrupt();
    expect(told).toEqual(['first SIGINT', 'last SIGINT', 'exit 130']);
  });
});
