import path from 'node:path';
import { hashText } from '../../base/hash.ts';
import { isRecord } from '../../base/json.ts';
import { visible } from '../../base/printable.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { RunRow } from '../../model/store/store.ts';
import { isAddress } from '../start/store-place.ts';
import { readFileBounded } from './read-file-bounded.ts';
import type { Settings } from './settings.ts';
import { writePrivateFile } from './write-private-file.ts';

/** Whether a run was begun in this workspace; if not, what to throw. */
export type RunPlace =
  { readonly type: 'here' } | { readonly type: 'elsewhere'; readonly error: RerailError };

/** The name under which runs of a workspace are kept: `rerail:shop-1f0c77ae`. */
export function agentNameOf(workspace: string): string {
  const folder = path.basename(workspace).slice(0, maxFolderCharacters);
  return `rerail:${folder}-${hashText(workspace).slice(0, hashDigits)}`;
}

/** Says whether a run belongs to the workspace of these settings, and names the other one where it does not. */
export async function runBelongsHere(
  { runId, agent }: Pick<RunRow, 'runId' | 'agent'>,
  { workspace, storeFile }: Pick<Settings, 'workspace' | 'storeFile'>,
): Promise<RunPlace> {
  if (agent === agentNameOf(workspace)) return { type: 'here' };
  if (!/^rerail:.*-[0-9a-f]{8}$/s.test(agent))
    return { type: 'elsewhere', error: foreignAgent(runId, agent) };
  const other = (await readNames(storeFile)).get(agent);
  const named =
    other === undefined
      ? `another workspace ("${visible(agent.slice('rerail:'.length))}")`
      : `the workspace "${visible(other)}"`;
  const failure = createFailure('PATH_OUTSIDE_WORKSPACE', {
    message: `Run ${visible(runId)} belongs to ${named}, not to "${visible(workspace)}"`,
    hint:
      other === undefined ? 'Type this in the folder where it was begun.' : `Type: cd "${visible(other)}"`,
    context: { runId, agent, workspace, ...(other === undefined ? {} : { other }) },
  });
  return { type: 'elsewhere', error: RerailError.from(failure) };
}

/** Keeps which workspace a name stands for, beside the store that has its runs. Writes only what is new. */
export async function noteWorkspace({
  workspace,
  storeFile,
}: Pick<Settings, 'workspace' | 'storeFile'>): Promise<void> {
  // Beside a database there is no place for it.
  if (isAddress(storeFile)) return;
  const names = await readNames(storeFile);
  const name = agentNameOf(workspace);
  if (names.get(name) === workspace) return;
  const kept = [...names].filter(([known]) => known !== name).slice(1 - maxNames);
  const workspaces = Object.fromEntries([...kept, [name, workspace]]);
  await writePrivateFile(
    namesFile(storeFile),
    `${JSON.stringify({ version: 1, workspaces }, undefined, 2)}\n`,
  );
}

const maxFolderCharacters = 40;
const hashDigits = 8;
const maxNames = 1000;
const maxBytes = 5_000_000;

function namesFile(storeFile: string): string {
  return `${storeFile}-workspaces.json`;
}

/** Only for texts: what cannot be read is not known. */
async function readNames(storeFile: string): Promise<ReadonlyMap<string, string>> {
  if (isAddress(storeFile)) return new Map();
  const read = await readFileBounded(namesFile(storeFile), maxBytes);
  if (read.type !== 'read') return new Map();
  const document = parse(new TextDecoder().decode(read.bytes));
  const workspaces: unknown = isRecord(document) ? document['workspaces'] : undefined;
  if (!isRecord(workspaces)) return new Map();
  const entries = Object.entries(workspaces).flatMap(([name, root]) =>
    typeof root === 'string' ? [[name, root] as const] : [],
  );
  return new Map(entries.slice(-maxNames));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The next run writes it again.
  }
}

function foreignAgent(runId: string, agent: string): RerailError {
  const failure = createFailure('NOT_REGISTERED', {
    origin: 'registry',
    message: `Run ${visible(runId)} was begun by the agent "${visible(agent)}" of another program, whose tools are not known here`,
    hint: 'Resume it with the program that has this agent.',
    context: { runId, agent },
  });
  return RerailError.from(failure);
}
