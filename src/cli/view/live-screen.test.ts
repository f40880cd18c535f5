import xterm from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { Terminal } from '../start/io.ts';
import { createLiveScreen, partOrder } from './live-screen.ts';

/** A screen model behind a terminal that a test can resize. */
function createWorld(columns = 30, rows = 8) {
  const model = new xterm.Terminal({ cols: columns, rows, scrollback: 100, allowProposedApi: true });
  const writes: string[] = [];
  const listeners = new Set<() => void>();
  const terminal: Terminal = {
    onKeys: () => () => undefined,
    write: (text) => {
      writes.push(text);
      model.write(text);
    },
    size: () => ({ columns: model.cols, rows: model.rows }),
    onResize: (listen) => {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
  };
  const lines = async (): Promise<string> => {
    await new Promise<void>((resolve) => model.write('', resolve));
    const { active } = model.buffer;
    const all = Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true) ?? '',
    );
    return all.join('\n').trimEnd();
  };
  const resize = (nextColumns: number, nextRows: number): void => {
    model.resize(nextColumns, nextRows);
    for (const listen of listeners) listen();
  };
  const clock = simulatedClock();
  return { clock, terminal, writes, lines, resize, model, screen: createLiveScreen(terminal, clock) };
}

describe('createLiveScreen()', () => {
  it('draws at most twenty times a second, and nothing where nothing has changed', async () => {
    const { clock, screen, writes } = createWorld();
    let shown = 0;
    screen.addPart(() => ({ lines: [`${shown}`] }), partOrder.run);
    for (let step = 0; step < 100; step += 1) {
      shown = step;
      screen.refresh();
      await clock.advance(10);
    }
    expect(writes.length).toBeGreaterThan(10);
    expect(writes.length).toBeLessThanOrEqual(21);
    await clock.advance(100);
    const before = writes.length;
    screen.refresh();
    await clock.advance(100);
    expect(writes.length).toBe(before);
  });

  it('lets what is finished scroll up, and keeps the region below it', async () => {
    const { clock, screen, lines } = createWorld(30, 5);
    screen.addPart(() => ({ lines: ['status'] }), partOrder.run);
    screen.addPart(() => ({ lines: ['> '], cursor: { row: 0, column: 2 } }), partOrder.prompt);
    for (let line = 1; line <= 9; line += 1) {
      screen.print([`line ${line}`]);
      await clock.advance(60);
    }
    expect(await lines()).toBe(
      `${Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join('\n')}\nstatus\n>`,
    );
    screen.close();
    expect(await lines()).toMatch(/line 9$/);
  });

  it('becomes smaller and larger without leaving anything behind', async () => {
    const { clock, screen, lines, model } = createWorld();
    let region: readonly string[] = ['a', 'b', 'c'];
    screen.addPart(() => ({ lines: region }), partOrder.run);
    screen.addPart(() => ({ lines: ['> hello'], cursor: { row: 0, column: 4 } }), partOrder.prompt);
    await clock.advance(60);
    region = ['x'];
    screen.refresh();
    await clock.advance(60);
    expect(await lines()).toBe('x\n> hello');
    region = ['x', 'y', 'z'];
    screen.refresh();
    await clock.advance(60);
    expect(await lines()).toBe('x\ny\nz\n> hello');
    expect(model.buffer.active.cursorX).toBe(4);
    expect(model.buffer.active.cursorY).toBe(3);
  });

  it('shows the last lines of a region that is higher than the terminal', async () => {
    const { clock, screen, lines } = createWorld(30, 4);
    screen.addPart(() => ({ lines: ['1', '2', '3', '4', '5', '6'] }), partOrder.run);
    await clock.advance(60);
    expect(await lines()).toBe('4\n5\n6');
  });

  it('redraws where the terminal becomes narrower', async () => {
    const { clock, screen, lines, resize } = createWorld(40, 10);
    screen.print(['printed']);
    screen.addPart(({ columns }) => ({ lines: ['s'.repeat(Math.min(35, columns)), 'end'] }), partOrder.run);
    await clock.advance(60);
    resize(20, 10);
    expect(await lines()).toBe(`printed\n${'s'.repeat(19)}\nend`);
  });
});
