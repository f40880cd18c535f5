import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/runtime/record/durable.ts';
import { startLife } from '../../kill/life.ts';
import type { Life } from '../../kill/life.ts';
import { bundleProgram } from '../../kill/program.ts';
import type { Program } from '../../kill/program.ts';
import { quiet, useDbos, waiting, whenOver } from './scene.ts';

const scene = useDbos();
const lives: Life[] = [];
let program: Program;
let engine: Engine;

beforeAll(async () => {
  program = await bundleProgram('test/engines/dbos/carrier-program.ts');
});
afterAll(() => program.remove());
afterEach(async () => {
  await engine?.close();
  for (const life of lives.splice(0)) {
    life.kill();
    await life.ended;
  }
});

/** A process that carries the run, with the one executor id that all of them have. */
async function carry(runId: string): Promise<Life> {
  const life = startLife(program.file, { databaseUrl: scene.databaseUrl(), packages: scene.packages, runId });
  lives.push(life);
  await life.until(({ kind }) => kind === 'ready');
  return life;
}

/** The same agent in this process, which carries nothing itself. */
async function look(): Promise<Engine> {
  engine = await scene.open({ name: 'carried', program: waiting }, { executorId: 'front' });
  return engine;
}

describe('a run that another process carries', { timeout: 60_000 }, () => {
  it('is known, signalled and cancelled from here', async () => {
    const runId = 'there';
    const carrier = await carry(runId);
    await look();
    await expect
      .poll(() => engine.status(runId), { timeout: 10_000 })
      .toEqual({ type: 'waiting', signal: 'go', announced: { seq: 1 } });
    await engine.signal(runId, 'go', { id: 'go-1', payload: 'from elsewhere' });
    await carrier.until(({ kind }) => kind === 'at-work');
    await engine.cancel(runId, 'enough');
    await carrier.until(({ kind }) => kind === 'aborted');
    const end = await whenOver(engine, runId);
    expect(end).toMatchObject({ type: 'ended', result: ['from elsewhere', 'cancelled'] });
  });

  it('is carried by one of two with the same executor id, and nothing is done twice', async () => {
    const runId = 'shared';
    const both = [await carry(runId)];
    await both[0]?.until(({ kind }) => kind === 'taken-up');
    both.push(await carry(runId));
    const count = (wanted: string): number =>
      both.flatMap(({ said }) => said).filter(({ kind }) => kind === wanted).length;
    // The launch of the second one has it handed out again: to either of them.
    await expect.poll(() => count('taken-up'), { timeout: 20_000 }).toBe(2);
    await look();
    await engine.signal(runId, 'go', { id: 'go-1', payload: 'to one of them' });
    await expect.poll(() => count('at-work'), { timeout: 20_000 }).toBe(1);
    await engine.cancel(runId, 'enough');
    const end = await whenOver(engine, runId);
    expect(end).toMatchObject({ type: 'ended', result: ['to one of them', 'cancelled'] });
    expect(count('at-work')).toBe(1);
    expect((await engine.journal?.(runId))?.journal.map(({ type }) => type)).toEqual(['wait']);
  });

  it('is not taken up by another executor id', async () => {
    const runId = 'left-behind';
    const carrier = await carry(runId);
    await carrier.until(({ kind }) => kind === 'taken-up');
    carrier.kill();
    await carrier.ended;
    await look();
    await engine.signal(runId, 'go', { id: 'go-1', payload: 'to nobody' });
    expect((await engine.status(runId)).type).toMatch(/waiting|running/);
    const again = await carry(runId);
    expect(await again.until(({ kind }) => kind === 'at-work')).toEqual({ kind: 'at-work' });
  });
});

describe('a run of another application version', { timeout: 60_000 }, () => {
  it('stands still, which is said, until that version is back', async () => {
    const part = { name: 'versions', program: waiting };
    const executorId = 'versions';
    const first = await scene.open(part, { executorId, applicationVersion: 'v1' });
    await first.start(null, { runId: 'run', version: '1' });
    await first.close();

    const said: string[] = [];
    const logger = { ...quiet, warn: (entry: unknown) => void said.push(String(entry)) };
    engine = await scene.open(part, { executorId, applicationVersion: 'v2', logger });
    const words = /1 runs of executor "versions" are paused.*"v1".*"v2"/;
    await expect.poll(() => said.filter((text) => words.test(text)).length, { timeout: 10_000 }).toBe(1);
    await engine.signal('run', 'go', { id: 'go-1', payload: null });
    expect((await engine.status('run')).type).toMatch(/waiting|running/);
    await engine.close();

    engine = await scene.open(part, { executorId, applicationVersion: 'v1' });
    expect(await whenOver(engine)).toMatchObject({ type: 'ended', result: 'gone' });
  });

  it('is not changed by the version of the program: a start that names another one is refused', async () => {
    engine = await scene.open({ name: 'versions', program: waiting }, { executorId: 'versions-2' });
    await expect(engine.start(null, { runId: 'other', version: '2' })).rejects.toThrow(
      /version "1", not "2"/,
    );
  });
});
