import { describe, expect, it } from 'vitest';
import {
  doneBefore,
  hashBytes,
  noteSeen,
  refuseUnseen,
  rememberChange,
  rememberDone,
  rememberSeen,
} from './memory.ts';
import type { RunMemory } from './memory.ts';
import type { Workspace } from './workspace.ts';

describe('the memory of a workspace', () => {
  it('refuses a file that was never read, and one that is no longer what was read', () => {
    const workspace = emptyWorkspace();
    const run = emptyRun();
    expect(() => refuseUnseen(workspace, run, now)).toThrow(
      'Cannot change a.ts: it is there already and has not been read; read it with read_file first',
    );
    rememberSeen(workspace.memory, 'a.ts', 'then');
    expect(() => refuseUnseen(workspace, run, now)).toThrow('it has changed since it was read');
    rememberSeen(workspace.memory, 'a.ts', 'now');
    expect(() => refuseUnseen(workspace, run, now)).not.toThrow();
  });

  it('goes by what the run has read elsewhere, as long as the file is still that', () => {
    const run = emptyRun();
    noteSeen(emptyWorkspace(), run, now);
    expect(() => refuseUnseen(emptyWorkspace(), run, now)).not.toThrow();
    expect(() => refuseUnseen(emptyWorkspace(), run, { path: 'a.ts', contentHash: 'later' })).toThrow(
      'it has changed since it was read',
    );
    expect(() => refuseUnseen(emptyWorkspace(), run, { path: 'b.ts', contentHash: 'now' })).toThrow(
      'has not been read',
    );
  });

  it('takes what was written elsewhere for seen, though another content was read here', () => {
    const run = emptyRun();
    const workspace = emptyWorkspace();
    noteSeen(workspace, run, { path: 'a.ts', contentHash: 'then' });
    noteSeen(emptyWorkspace(), run, now);
    expect(() => refuseUnseen(workspace, run, now)).not.toThrow();
  });

  it('keeps a name that is too long for the run to itself', () => {
    const run = emptyRun();
    const long = { path: 'x'.repeat(2000), contentHash: 'now' };
    const workspace = emptyWorkspace();
    noteSeen(workspace, run, long);
    expect(() => refuseUnseen(workspace, run, long)).not.toThrow();
    expect(() => refuseUnseen(emptyWorkspace(), run, long)).toThrow('has not been read');
  });

  it('forgets the longest unseen of more than 10,000 files', () => {
    const { memory } = emptyWorkspace();
    for (let index = 0; index < 10_000; index += 1) rememberSeen(memory, `f${index}`, 'x');
    rememberSeen(memory, 'f0', 'y');
    rememberSeen(memory, 'new', 'x');
    expect(memory.seen.size).toBe(10_000);
    expect(memory.seen.has('f0')).toBe(true);
    expect(memory.seen.has('f1')).toBe(false);
  });

  it('forgets the oldest of more than 1,000 changes, and of more than 50 MB', () => {
    const { memory } = emptyWorkspace();
    for (let index = 0; index < 1010; index += 1) rememberChange(memory, change(`f${index}`, 0));
    expect(memory.changes.length).toBe(1000);
    expect(memory.changes[0]?.path).toBe('f10');
    rememberChange(memory, change('large', 30_000_000));
    rememberChange(memory, change('larger', 30_000_000));
    expect(memory.changes.map(({ path }) => path)).toEqual(['larger']);
  });

  it('forgets the oldest of more than 1,000 calls that it has done', () => {
    const workspace = emptyWorkspace();
    for (let index = 0; index < 1001; index += 1) {
      rememberDone(workspace, `k${index}`, { path: 'a', afterHash: 'x', result: 'done' });
    }
    expect(doneBefore(workspace, 'k0')).toBeUndefined();
    expect(doneBefore(workspace, 'k1')).toEqual({ path: 'a', afterHash: 'x', result: 'done' });
    expect(doneBefore(emptyWorkspace(), 'k1')).toBeUndefined();
  });

  it('knows contents again by their hash', () => {
    expect(hashBytes(Buffer.from('a'))).toBe(hashBytes(new Uint8Array([97])));
    expect(hashBytes(Buffer.from('a'))).not.toBe(hashBytes(Buffer.from('b')));
  });
});

function change(path: string, bytes: number): Workspace['memory']['changes'][number] {
  return { runId: 'run', path, before: new Uint8Array(bytes), afterHash: 'x' };
}

const now = { path: 'a.ts', contentHash: 'now' };

function emptyRun(): RunMemory {
  const kept = new Map<string, string>();
  return { remember: (name, text) => void kept.set(name, text), recall: (name) => kept.get(name) };
}

function emptyWorkspace(): Workspace {
  return {
    root: '/ws',
    options: { protect: [], maxFileBytes: 1000, allowHardLinks: false, sandbox: {} },
    sandbox: () => Promise.reject(new Error('not needed')),
    memory: { seen: new Map(), changes: [] },
  };
}
