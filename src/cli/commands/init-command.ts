import { realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { visible } from '../../base/printable.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import { configsIn, configNames } from '../config/find-files.ts';
import { findStateFolders } from '../config/state-folders.ts';
import type { StateFolders } from '../config/state-folders.ts';
import { canStripTypes, systemStrippers } from '../config/strip-types.ts';
import { addTrust, contentHash, readTrustList } from '../config/trust-list.ts';
import { agentTemplate, configTemplate, jsonTemplate } from './init-templates.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** Writes the files that are not there yet, and says what to type next. */
export const runInit: CommandRun = async (given, io) => {
  const folder = await openFolder(path.resolve(io.folder, settingFlagsOf(given).workspace ?? '.'));
  const folders = await findStateFolders(io, folder);
  for (const notice of folders.notices) io.stderr.write(`${notice}\n`);
  const isJson = given.flags['json'] === true;
  // The texts have no types in them: where none can be taken out, they are written as what they are.
  const ending = canStripTypes(systemStrippers(folders.grounds)) ? 'ts' : 'mjs';
  const config = isJson ? 'rerail.config.json' : `rerail.config.${ending}`;
  const agent = `rerail-agent.${ending}`;
  const text = isJson ? jsonTemplate : configTemplate;
  const [existing] = await configsIn(folder, configNames);
  const say = (line: string): unknown => io.stdout.write(`${line}\n`);
  if (existing === undefined) {
    const isWritten = await writeNew(path.join(folder, config), text);
    if (isWritten) await trustOwn(path.join(folder, config), { text, folders, atMs: io.now() });
    say(isWritten ? `Wrote ${config}.` : `${config} is there already and was left as it is.`);
  } else say(`${visible(path.basename(existing))} is there already and was left as it is.`);
  const isAgentWritten = await writeNew(path.join(folder, agent), agentTemplate);
  say(isAgentWritten ? `Wrote ${agent}.` : `${agent} is there already and was left as it is.`);
  for (const line of nextSteps(io.command)) say(line);
  return 0;
};

async function openFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw refusal(error, folder) ?? error;
  }
}

/** Never over another file, nor through a link that leads nowhere. */
async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (readProperty(error, 'code') === 'EEXIST') return false;
    throw refusal(error, file) ?? error;
  }
}

function refusal(error: unknown, file: string): Error | undefined {
  const errno = readProperty(error, 'code');
  if (typeof errno !== 'string') return undefined;
  return usageError({
    message: `Cannot write ${quote(file)}: ${errno === 'ENOENT' ? 'there is no such folder' : errno}`,
    hint: 'Type: rerail init --workspace <folder>',
  });
}

/** A file that was just written on request needs no second approval. */
async function trustOwn(
  file: string,
  { text, folders, atMs }: { readonly text: string; readonly folders: StateFolders; readonly atMs: number },
): Promise<void> {
  const sha256 = contentHash(Buffer.from(text));
  await addTrust(await readTrustList(folders), [{ path: file, sha256, atMs }]);
}

function nextSteps(command: string): readonly string[] {
  return [
    '',
    'What to type next:',
    `  ${command} config   shows every setting and where it comes from`,
    `  ${command} trust    after you have changed the configuration`,
    `  ${command} chat     works with the agent in this folder`,
  ];
}
