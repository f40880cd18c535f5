import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RerailError } from '../../src/errors/rerail-error.ts';
import type { Tool, ToolContext } from '../../src/model/tool.ts';
import type { Json } from '../../src/base/json.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import type { Workspace, WorkspaceOptions } from '../../src/tools/workspace/workspace.ts';

/** A workspace `ws` in a folder of its own, with neighbours that nobody may reach. */
export interface TemporaryWorkspace {
  readonly workspace: Workspace;
  /** The folder around it. */
  readonly outside: string;
  /** The full path of something inside. */
  readonly at: (name: string) => string;
  readonly remove: () => void;
}

/** What stands in every file outside, and must never be seen. */
export const canary = 'CANARY outside of the workspace';

export async function temporaryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: WorkspaceOptions = {},
): Promise<TemporaryWorkspace> {
  const outside = mkdtempSync(path.join(tmpdir(), 'rerail-ws-'));
  const root = path.join(outside, 'ws');
  mkdirSync(root);
  mkdirSync(path.join(outside, 'ws-evil'));
  writeFileSync(path.join(outside, 'secret.txt'), canary);
  writeFileSync(path.join(outside, 'ws-evil', 'f'), canary);
  const at = (name: string): string => path.join(root, name);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  }
  const workspace = await openWorkspace(root, options);
  return { workspace, outside, at, remove: () => rmSync(outside, { recursive: true, force: true }) };
}

/** A pipe that nobody reads from or writes to. Node itself cannot make one. */
export function makePipe(at: string): void {
  const program = 'mkfifo';
  execFileSync(program, [at]);
}

/** Calls a tool as the runtime does: its input is parsed first. */
export async function call(tool: Tool, input: Json, given: Partial<ToolContext> = {}): Promise<string> {
  const checked = await tool.parse(input);
  if (checked.type === 'invalid') throw new Error(checked.issues.map(({ message }) => message).join('; '));
  return String(await tool.execute(checked.value, { ...context(), ...given }));
}

let calls = 0;

function context(): ToolContext {
  calls += 1;
  const unused = (): never => {
    throw new Error('not needed');
  };
  return {
    runId: 'run-1',
    callId: `call-${calls}`,
    signal: new AbortController().signal,
    idempotencyKey: `key-${calls}`,
    attempt: 1,
    retry: unused,
    fail: unused,
    progress: () => undefined,
    assist: unused,
    background: unused,
    remember: () => undefined,
    recall: () => undefined,
    ask: () => Promise.reject(new Error('nobody is asked here')),
  };
}

/** The failure that something ends with. */
export async function failureOf(work: Promise<unknown>): Promise<RerailError> {
  try {
    await work;
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('It should have failed');
}
