import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../../tools/workspace/workspace-error.ts';

/** A command that somebody has written as a Markdown file: what it says is sent to the model. */
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

/** Reads the commands of the folders; of two of the same name the first folder's counts. A folder that is not there has none. */
export async function readUserCommands(folders: readonly string[]): Promise<FoundCommands> {
  const commands = new Map<string, UserCommand>();
  const problems: string[] = [];
  for (const folder of folders) {
    for (const file of await listMarkdown(folder, problems)) {
      const name = path.basename(file, '.md').toLowerCase();
      if (commands.has(name) || commands.size >= maxCommands) continue;
      if (!namePattern.test(name)) {
        problems.push(
          `${file} is no command: its name must be letters, digits and dashes, such as review-code.md`,
        );
        continue;
      }
      const text = await readBounded(file, problems);
      if (text !== undefined) commands.set(name, { name, file, ...readCommand(text) });
    }
  }
  return { commands: [...commands.values()], problems };
}

/** The message that a command stands for. */
export function fillCommand({ body }: UserCommand, given: string): string {
  if (body.includes('$ARGUMENTS')) return body.replaceAll('$ARGUMENTS', () => given).trim();
  return `${body}\n\n${given}`.trim();
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

async function readBounded(file: string, problems: string[]): Promise<string | undefined> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      if (size <= maxFileBytes) return await handle.readFile('utf8');
      problems.push(`${file} is no command: it has ${size} bytes, and at most ${maxFileBytes} are read`);
      return undefined;
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    problems.push(`${file} cannot be read: ${code}`);
    return undefined;
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
