import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import { checkOptions } from '../../model/check/check-options.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import { configError } from '../../errors/config-error.ts';
import { showName, showValue } from '../../model/check/show-value.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { errnoOf } from './workspace-error.ts';
import type { ResolvedWorkspaceOptions, SandboxChoice, Workspace, WorkspaceOptions } from './workspace.ts';

const defaultMaxFileBytes = 10_000_000;
const maxProtected = 1000;
const leastLevels = ['contained', 'restricted', 'bare'] as const;

/**
 * Opens a folder as a workspace. Throws a `ConfigError` where there is no such folder, or where an option makes no sense.
 *
 * @example
 * const workspace = await openWorkspace('.', { protect: ['migrations/**'] });
 */
export async function openWorkspace(
  root: string,
  options: WorkspaceOptions = {},
  probe: (workspace: Workspace) => Promise<Sandbox> = probeWhenNeeded,
): Promise<Workspace> {
  const resolved = resolveOptions(options);
  let sandbox: Promise<Sandbox> | undefined;
  const workspace: Workspace = Object.freeze({
    root: await realRoot(root),
    options: resolved,
    sandbox: () => (sandbox ??= probe(workspace)),
    memory: { seen: new Map(), changes: [] },
  });
  return workspace;
}

/** Loaded when the first command runs: whoever only reads files never pays for it. */
async function probeWhenNeeded(workspace: Workspace): Promise<Sandbox> {
  const { probeSandbox } = await import('../sandbox/probe-sandbox.ts');
  return probeSandbox(workspace);
}

async function realRoot(root: unknown): Promise<string> {
  if (typeof root !== 'string' || root === '' || root.includes('\0')) {
    throw configError(
      `Cannot open the workspace: "root" must be the path of a folder, got ${showValue(root)}`,
    );
  }
  const real = await realpath(root).catch((error: unknown) => {
    throw unusable(root, errnoOf(error) === 'ENOENT' ? 'there is no such folder' : String(error), error);
  });
  if (!(await stat(real)).isDirectory()) throw unusable(root, 'it is no folder');
  if (path.dirname(real) === real) {
    throw unusable(root, 'it is the root of the file system, in which nothing is outside');
  }
  return path.sep === '/' ? real : real.replaceAll(path.sep, '/');
}

function unusable(root: string, says: string, cause?: unknown): Error {
  return configError(`Cannot open ${showName(root)} as the workspace: ${says}`, {
    hint: 'Name the folder of the project, such as openWorkspace(".").',
    causes: cause === undefined ? [] : causesOf(cause),
  });
}

function resolveOptions(options: unknown): ResolvedWorkspaceOptions {
  const rules = ['protect', 'maxFileBytes', 'allowHardLinks', 'sandbox'];
  const given = checkOptions({ of: 'openWorkspace()', rules }, options);
  const { protect = [], maxFileBytes = defaultMaxFileBytes, allowHardLinks = false, sandbox = {} } = given;
  return Object.freeze({
    protect: checkProtect(protect),
    maxFileBytes: checkMaxFileBytes(maxFileBytes),
    allowHardLinks: checkBoolean(allowHardLinks),
    sandbox: checkSandbox(sandbox),
  });
}

function checkProtect(protect: unknown): readonly string[] {
  if (!Array.isArray(protect) || protect.length > maxProtected) {
    throw wrong('protect', `a list of at most ${maxProtected} paths`, protect);
  }
  const paths: readonly unknown[] = protect;
  return Object.freeze(
    paths.map((entry, index) => {
      if (typeof entry === 'string' && isProtectable(entry)) return entry;
      throw wrong(`protect[${index}]`, 'a path from the root with "/", such as "migrations/**"', entry);
    }),
  );
}

/** A pattern that could match no path protects nothing, and nobody would notice. */
function isProtectable(pattern: string): boolean {
  const parts = pattern.replace(/^\.\//, '').replace(/\/$/, '').split('/');
  return pattern !== '' && !pattern.includes('\\') && parts.every((part) => !['', '.', '..'].includes(part));
}

function checkMaxFileBytes(maxFileBytes: unknown): number {
  if (typeof maxFileBytes === 'number' && Number.isSafeInteger(maxFileBytes) && maxFileBytes > 0) {
    return maxFileBytes;
  }
  throw wrong('maxFileBytes', 'a whole number of bytes above 0', maxFileBytes);
}

function checkBoolean(allowHardLinks: unknown): boolean {
  if (typeof allowHardLinks === 'boolean') return allowHardLinks;
  throw wrong('allowHardLinks', 'true or false', allowHardLinks);
}

function checkSandbox(sandbox: unknown): SandboxChoice {
  if (!isRecord(sandbox)) throw wrong('sandbox', 'an object such as { min: "contained" }', sandbox);
  checkOptions({ of: '"sandbox" of openWorkspace()', rules: ['min', 'off'] }, sandbox);
  const { min, off } = sandbox;
  if (min !== undefined && !leastLevels.some((level) => level === min)) {
    throw wrong('sandbox.min', `one of ${leastLevels.join(', ')}`, min);
  }
  if (off !== undefined && (typeof off !== 'string' || off.trim() === '')) {
    throw wrong('sandbox.off', 'who has switched it off and where, in words', off);
  }
  return Object.freeze({ ...sandbox });
}

function wrong(field: string, rule: string, value: unknown): Error {
  return configError(`Cannot open the workspace: "${field}" must be ${rule}, got ${showValue(value)}`);
}
