import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { editFileTool } from '../../src/tools/workspace/edit-file.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import { readFileTool } from '../../src/tools/workspace/read-file.ts';
import { call, failureOf, temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

const opened: TemporaryWorkspace[] = [];
afterEach(() => opened.splice(0).forEach(({ remove }) => remove()));

/** A workspace whose file `src/a.ts` has been read. */
async function givenRead(content: string | Uint8Array): Promise<TemporaryWorkspace> {
  const made = await temporaryWorkspace({ 'src/a.ts': content });
  opened.push(made);
  await call(readFileTool(made.workspace), { path: 'src/a.ts' });
  return made;
}

it('edits of one file at the same time are all made, by whatever names it is asked for', async () => {
  const numbers = [...Array(10).keys()];
  const { workspace, at } = await givenRead(numbers.map((number) => `old${number}.\n`).join(''));
  symlinkSync('src', at('link'));
  const editFile = editFileTool(workspace);
  const edit = (number: number): Promise<unknown> =>
    call(
      editFile,
      {
        path: number % 2 === 0 ? 'src/a.ts' : 'link/a.ts',
        edits: [{ oldText: `old${number}.`, newText: `new${number}.` }],
      },
      { idempotencyKey: String(number) },
    );
  await Promise.all(numbers.map(edit));
  expect(readFileSync(at('src/a.ts'), 'utf8')).toBe(numbers.map((number) => `new${number}.\n`).join(''));
});

describe('edit_file refuses', () => {
  it.each([
    { what: 'no kind of edit', edit: { newText: 'x' } },
    { what: 'both kinds at once', edit: { oldText: 'a', newText: 'x', fromLine: 1, toLine: 1 } },
    { what: 'half a range', edit: { newText: 'x', fromLine: 1 } },
  ])('$what', async ({ edit }) => {
    const { workspace } = await givenRead('a\n');
    const error = await failureOf(call(editFileTool(workspace), { path: 'src/a.ts', edits: [edit] }));
    expect(error.message).toBe(
      'edits[0] must have either oldText and newText, or fromLine, toLine and newText',
    );
  });

  it.each([
    { what: 'what is no text', content: new Uint8Array([1, 0, 2]), says: 'it is a binary file' },
    { what: 'what is no UTF-8', content: new Uint8Array([97, 0xe9]), says: 'bytes that are not UTF-8' },
  ])('$what', async ({ content, says }) => {
    const { workspace, at } = await givenRead(content);
    const edits = [{ oldText: 'a', newText: 'b' }];
    expect((await failureOf(call(editFileTool(workspace), { path: 'src/a.ts', edits }))).message).toContain(
      says,
    );
    expect(new Uint8Array(readFileSync(at('src/a.ts')))).toEqual(content);
  });

  it('all edits where one does not fit', async () => {
    const { workspace, at } = await givenRead('one\ntwo\n');
    const edits = [
      { oldText: 'one', newText: '1' },
      { oldText: 'twoo', newText: '2' },
    ];
    const error = await failureOf(call(editFileTool(workspace), { path: 'src/a.ts', edits }));
    expect(error.code).toBe('VALIDATION_ERROR');
    expect(error.message).toBe('no match for "twoo" in src/a.ts; nearest line 2: two');
    expect(readFileSync(at('src/a.ts'), 'utf8')).toBe('one\ntwo\n');
  });

  it('a file that is not there, and names what is', async () => {
    const { workspace } = await givenRead('a\n');
    const edits = [{ oldText: 'a', newText: 'b' }];
    const error = await failureOf(call(editFileTool(workspace), { path: 'src/b.ts', edits }));
    expect(error.code).toBe('NOT_FOUND');
    expect(error.message).toBe('no file src/b.ts; there is src/a.ts');
    expect((await failureOf(call(editFileTool(workspace), { path: 'scr/a.ts', edits }))).message).toBe(
      'no folder scr; there is src',
    );
  });

  it('a file that has changed since it was read', async () => {
    const { workspace, at } = await givenRead('one\n');
    writeFileSync(at('src/a.ts'), 'zero\none\n');
    const edits = [{ fromLine: 1, toLine: 1, newText: 'x' }];
    const error = await failureOf(call(editFileTool(workspace), { path: 'src/a.ts', edits }));
    expect(error.message).toContain('it has changed since it was read');
  });
});

describe('edit_file', () => {
  it('keeps the byte order mark, the line ends and the missing last one', async () => {
    const { workspace, at } = await givenRead('\ufeffone\r\ntwo\r\nthree');
    const edits = [
      { oldText: 'one\ntwo', newText: '1\n2' },
      { fromLine: 3, toLine: 3, newText: '3\n' },
    ];
    expect(await call(editFileTool(workspace), { path: 'src/a.ts', edits })).toContain(
      'Changed 2 places in src/a.ts',
    );
    expect(readFileSync(at('src/a.ts'), 'utf8')).toBe('\ufeff1\r\n2\r\n3');
  });

  it('edits what it has edited, without reading it again', async () => {
    const { workspace, at } = await givenRead('a b\n');
    const editFile = editFileTool(workspace);
    await call(editFile, { path: 'src/a.ts', edits: [{ oldText: 'a', newText: 'x' }] });
    await call(editFile, { path: 'src/a.ts', edits: [{ oldText: 'b', newText: 'y' }] });
    expect(readFileSync(at('src/a.ts'), 'utf8')).toBe('x y\n');
  });

  it('done again with the same key is done once, though the text would fit again', async () => {
    const { workspace, at } = await givenRead('a\n');
    const editFile = editFileTool(workspace);
    const input = { path: 'src/a.ts', edits: [{ oldText: 'a', newText: 'aa' }] };
    const first = await call(editFile, input, { idempotencyKey: 'same' });
    const again = await call(editFile, input, { idempotencyKey: 'same', attempt: 2 });
    expect(again).toBe(first);
    expect(readFileSync(at('src/a.ts'), 'utf8')).toBe('aa\n');
    expect(workspace.memory.changes.length).toBe(1);
  });

  it('done again by a process that knows nothing of it counts as done', async () => {
    const { workspace, at } = await givenRead('a\n');
    const input = { path: 'src/a.ts', edits: [{ oldText: 'a', newText: 'b' }] };
    await call(editFileTool(workspace), input, { idempotencyKey: 'same' });
    const { mtimeMs } = statSync(at('src/a.ts'));
    const afterCrash = await openWorkspace(workspace.root);
    expect(await call(editFileTool(afterCrash), input, { idempotencyKey: 'same', attempt: 2 })).toBe(
      'src/a.ts looks as if these edits had been made before; nothing was changed. Read it to be sure.',
    );
    expect(statSync(at('src/a.ts')).mtimeMs).toBe(mtimeMs);
  });
});
