import path from 'node:path';
import { visible } from '../../base/printable.ts';
import type { CliIo } from '../start/io.ts';
import { readConfigFile } from './config-file.ts';
import type { ConfigFile } from './config-file.ts';
import { configsIn, userConfigNames } from './find-files.ts';
import type { ImportOptions } from './import-config.ts';
import { readSourceGraph } from './source-graph.ts';
import type { StateFolders } from './state-folders.ts';

/** Reads the configuration of the user, which needs no approval. */
export async function readUserLayer(
  { config }: Pick<StateFolders, 'config'>,
  { home = '' }: Pick<CliIo, 'home'>,
  options: ImportOptions = {},
): Promise<ConfigFile> {
  const [file] = config === undefined ? [] : await configsIn(config, userConfigNames);
  if (file === undefined) return { values: [], problems: [] };
  const shown = visible(
    home !== '' && file.startsWith(home + path.sep) ? path.join('~', path.relative(home, file)) : file,
  );
  const graph = await readSourceGraph(file);
  if (graph.type === 'unreadable') return { values: [], problems: [{ place: shown, text: graph.why }] };
  if (graph.type === 'missing') return { values: [], problems: [] };
  return readConfigFile(graph.files, { ...options, shown });
}
