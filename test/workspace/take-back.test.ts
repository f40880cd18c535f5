import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { editFileTool } from '../../src/tools/workspace/edit-file.ts';
import { readFileTool } from '../../src/tools/workspace/read-file.ts';
import { takeBack } from '../../src/tools/workspace/take-back.ts';
import { writeFileTool } from '../../src/tools/workspace/write-file.ts';
import { call, temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

const opened: TemporaryWorkspace[] = [];
afterEach(() => opened.splice(0).forEach(({ remove }) => remove()));

/** A workspace in which a run has changed `a.txt` twice and made `new/b.txt`. */
async function givenRun(): Promise<TemporaryWorkspace> {
  const made = await temporaryWorkspace({ 'a.txt': 'first\n' });
  opened.push(made);
  await call(readFileTool(made.workspace), { path: 'a.txt' });
  await write(made, { path: 'a.txt', content: 'second\n', runId: 'run-1' });
  const edits = [{ oldText: 'second', newText: 'third' }];
  await call(editFileTool(made.workspace), { path: 'a.txt', edits }, { runId: 'run-1' });
  await write(made, { path: 'new/b.txt', content: 'b', runId: 'run-1' });
  return made;
}

interface Write {
  readonly path: string;
  readonly content: string;
  readonly runId: string;
}

function write({ workspace }: TemporaryWorkspace, { path, content, runId }: Write): Promise<string> {
  return call(writeFileTool(workspace), { path, content }, { runId });
}

describe('takeBack() leaves alone', () => {
  it.each([
    { what: 'a file that a person has changed since', disturb: (at: string) => writeFileSync(at, 'mine') },
    { what: 'a file that is gone', disturb: (at: string) => unlinkSync(at) },
    {
      what: 'a name that is now a link',
      disturb: (at: string) => {
        unlinkSync(at);
        symlinkSync('../secret.txt', at);
      },
    },
    {
      what: 'a name that is now a folder',
      disturb: (at: string) => {
        unlinkSync(at);
        mkdirSync(at);
      },
    },
  ])('$what', async ({ disturb }) => {
    const { workspace, at } = await givenRun();
    disturb(at('a.txt'));
    expect(await takeBack(workspace, 'run-1')).toEqual([
      { path: 'a.txt', result: 'changed-since' },
      { path: 'new/b.txt', result: 'removed' },
    ]);
    expect(workspace.memory.changes.map(({ path }) => path)).toEqual(['a.txt', 'a.txt']);
  });

  it('what another run has changed since', async () => {
    const made = await givenRun();
    await write(made, { path: 'a.txt', content: 'by another\n', runId: 'run-2' });
    const [first] = await takeBack(made.workspace, 'run-1');
    expect(first).toEqual({ path: 'a.txt', result: 'changed-since' });
    expect(readFileSync(made.at('a.txt'), 'utf8')).toBe('by another\n');
  });

  it('a file that somebody else changed in between, so that not all of it is ours', async () => {
    const made = await givenRun();
    writeFileSync(made.at('a.txt'), 'mine\n');
    await call(readFileTool(made.workspace), { path: 'a.txt' });
    await write(made, { path: 'a.txt', content: 'theirs\n', runId: 'run-1' });
    const [first] = await takeBack(made.workspace, 'run-1');
    expect(first?.result).toBe('changed-since');
    expect(readFileSync(made.at('a.txt'), 'utf8')).toBe('theirs\n');
  });

  it('a file whose folder has gone', async () => {
    const { workspace, at } = await givenRun();
    rmSync(at('new'), { recursive: true });
    expect(await takeBack(workspace, 'run-1')).toContainEqual({ path: 'new/b.txt', result: 'changed-since' });
  });
});

describe('takeBack()', () => {
  it('brings back what was there and removes what was not, once', async () => {
    const { workspace, at } = await givenRun();
    expect(await takeBack(workspace, 'run-1')).toEqual([
      { path: 'a.txt', result: 'restored' },
      { path: 'new/b.txt', result: 'removed' },
    ]);
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('first\n');
    expect(existsSync(at('new/b.txt'))).toBe(false);
    expect(await takeBack(workspace, 'run-1')).toEqual([]);
  });

  it('lets the next run write over what it has brought back', async () => {
    const made = await givenRun();
    await takeBack(made.workspace, 'run-1');
    expect(await write(made, { path: 'a.txt', content: 'x', runId: 'run-2' })).toContain('Replaced');
  });

  it('goes back one run after the other', async () => {
    const made = await givenRun();
    await write(made, { path: 'a.txt', content: 'by another\n', runId: 'run-2' });
    expect(await takeBack(made.workspace, 'run-2')).toEqual([{ path: 'a.txt', result: 'restored' }]);
    expect(await takeBack(made.workspace, 'run-1')).toContainEqual({ path: 'a.txt', result: 'restored' });
    expect(readFileSync(made.at('a.txt'), 'utf8')).toBe('first\n');
  });

  it('has nothing to do for a run that changed nothing', async () => {
    const { workspace } = await givenRun();
    expect(await takeBack(workspace, 'another')).toEqual([]);
  });
});
