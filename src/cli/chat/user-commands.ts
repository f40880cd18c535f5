import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readFileBounded } from '../config/read-file-bounded.ts';
import type { FileRead } from '../config/read-file-bounded.ts';
import type { Settings } from '../config/settings.ts';
import { decodeText } from '../config/source-graph.ts';
import { errnoOf } from '../../tools/workspace/workspace-error.ts';

/** A user-defined command in a Markdown file: its text is sent to the model. */
export interface UserCommand {
  readonly name: string;
  readonly description: string;
  /** With `$ARGUMENTS` where what was typed after the name goes. */
  readonly body: string;
  readonly file: string;
}

const maxCommands = 200;
const maxFileBytes = 64 * 1024;
const namePattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** What was found, and what could not be read, in words. */
export interface FoundCommands {
  readonly commands: readonly UserCommand[];
  readonly problems: readonly string[];
}

/**
 * Reads the commands of a workspace, which were judged and are taken as they were then, and those of the folders. Of two of the same name
 * the first counts. A folder that is not there has none.
 */
export async function readUserCommands({
  commandFiles,
  commandFolders,
}: Pick<Settings, 'commandFiles' | 'commandFolders'>): Promise<FoundCommands> {
  const finding: Finding = { commands: new Map(), problems: [] };
  for (const { path: file, bytes } of commandFiles) await add(finding, file, () => judged(bytes));
  for (const folder of commandFolders) {
    for (const file of await listMarkdown(folder, finding.problems))
      await add(finding, file, () => readFileBounded(file, maxFileBytes));
  }
  return { commands: [...finding.commands.values()], problems: finding.problems };
}

/** The message that a command stands for. */
export function fillCommand({ body }: UserCommand, given: string): string {
  if (body.includes('$ARGUMENTS')) return body.replaceAll('$ARGUMENTS', () => given).trim();
  return `${body}\n\n${given}`.trim();
}

interface Finding {
  readonly commands: Map<string, UserCommand>;
  readonly problems: string[];
}

async function add(
  { commands, problems }: Finding,
  file: string,
  read: () => FileRead | Promise<FileRead>,
): Promise<void> {
  const name = path.basename(file, '.md').toLowerCase();
  if (commands.has(name) || commands.size >= maxCommands) return;
  if (!namePattern.test(name)) {
    problems.push(
      `${file} is no command: its name must be letters, digits and dashes, such as review-code.md`,
    );
    return;
  }
  const found = await read();
  if (found.type === 'missing') return; // It was listed a moment ago, and was removed since.
  const text = found.type === 'read' ? decodeText(found.bytes) : undefined;
  if (text !== undefined) commands.set(name, { name, file, ...readCommand(text) });
  else problems.push(`${file} is no command: it ${found.type === 'read' ? 'is not UTF-8' : found.why}`);
}

function judged(bytes: Uint8Array): FileRead {
  if (bytes.length <= maxFileBytes) return { type: 'read', bytes };
  return {
    type: 'unreadable',
    why: `has ${bytes.length} bytes, which is more than the ${maxFileBytes} that are read`,
  };
}

async function listMarkdown(folder: string, problems: string[]): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith('.md'))
      .toSorted()
      .map((name) => path.join(folder, name));
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    if (code !== 'ENOENT') problems.push(`${folder} cannot be read: ${code}`);
    return [];
  }
}

/** The text below the front matter, and its `description`; without one, the first line of the text. */
function readCommand(text: string): Pick<UserCommand, 'description' | 'body'> {
  const whole = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const front = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(whole);
  const body = whole.slice(front?.[0].length ?? 0).trim();
  const said = /^description:[ \t]*(.*)$/m.exec(front?.[1] ?? '')?.[1]?.trim() ?? '';
  const description = said.replace(/^(["'])(.*)\1$/, '$2');
  const [firstLine = ''] = body.split('\n', 1);
  return { description: description === '' ? firstLine.replace(/^#+ */, '') : description, body };
}
