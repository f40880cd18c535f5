import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../testing/simulated-clock.ts';
import { createAborter, onAbort, wait } from './abort.ts';

describe('onAbort()', () => {
  it('calls at once where the signal has aborted, and never without a signal', () => {
    const heard: string[] = [];
    onAbort(AbortSignal.abort(), () => heard.push('aborted'));
    onAbort(undefined, () => heard.push('never'))();
    expect(heard).toEqual(['aborted']);
  });

  it('puts one listener on a signal, however many listen, and takes it off again', () => {
    const { signal } = new AbortController();
    const cancels = Array.from({ length: 200 }, () => onAbort(signal, () => undefined));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    for (const cancel of cancels) {
      cancel();
      cancel();
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('tells all who still listen, once, also when one of them calls another off', () => {
    const controller = new AbortController();
    const heard: string[] = [];
    const later = { cancel: (): void => undefined };
    onAbort(controller.signal, () => {
      heard.push('first');
      later.cancel();
    });
    later.cancel = onAbort(controller.signal, () => heard.push('called off'));
    onAbort(controller.signal, () => heard.push('last'));
    controller.abort();
    controller.abort();
    expect(heard).toEqual(['first', 'last']);
  });
});

describe('wait()', () => {
  it('ends when the signal aborts, and leaves neither timer nor listener', async () => {
    const clock = simulatedClock();
    const controller = new AbortController();
    clock.after(10, () => controller.abort());
    expect(await clock.runUntil(wait(60_000, { clock, signal: controller.signal }))).toBe('aborted');
    expect(await clock.runUntil(wait(5, { clock, signal: new AbortController().signal }))).toBe('elapsed');
    expect(clock.pending()).toBe(0);
  });
});

describe('createAborter()', () => {
  it('tells who listens to it and who listens to its signal, once and for the first reason', () => {
    const aborter = createAborter();
    const heard: string[] = [];
    aborter.listen(() => heard.push('itself'));
    onAbort(aborter.signal(), () => heard.push('its signal'));
    aborter.signal().addEventListener('abort', () => heard.push('the platform'));
    const cancel = onAbort(aborter.signal(), () => heard.push('called off'));
    cancel();
    aborter.abort('first');
    aborter.abort('second');
    expect(heard.toSorted()).toEqual(['its signal', 'itself', 'the platform']);
    expect(aborter.signal().reason).toBe('first');
  });

  it('tells at once whoever asks after it has aborted, also by a signal that is made only then', () => {
    const aborter = createAborter();
    aborter.abort();
    const heard: string[] = [];
    aborter.listen(() => heard.push('itself'));
    onAbort(aborter.signal(), () => heard.push('its signal'));
    expect(heard).toEqual(['itself', 'its signal']);
    expect(aborter.signal().aborted).toBe(true);
    expect(aborter.signal().reason).toMatchObject({ name: 'AbortError' });
  });

  it('puts no listener on its signal, whoever listens', () => {
    const aborter = createAborter();
    const heard: string[] = [];
    onAbort(aborter.signal(), () => heard.push('told'));
    expect(getEventListeners(aborter.signal(), 'abort')).toHaveLength(0);
    aborter.abort();
    expect(heard).toEqual(['told']);
  });
});
