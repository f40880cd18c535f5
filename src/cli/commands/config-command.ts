import { printable, printableJson } from '../../base/printable.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import { loadSettings } from '../config/load-settings.ts';
import type { Settings } from '../config/settings.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen, layoutRows } from '../text/layout.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { wrap } from '../text/wrap.ts';

/** Shows the settings that would hold, with where each came from. */
export const runConfig: CommandRun = async (given, io) => {
  const settings = await loadSettings(settingFlagsOf(given), io);
  io.stdout.write(
    given.flags['json'] === true ? `${printableJson(documentOf(settings))}\n` : render(settings, io),
  );
  return 0;
};

function documentOf({ workspace, modelLine, notices, origins }: Settings): object {
  return { workspace, model: modelLine, notices, settings: origins };
}

function render({ workspace, modelLine, notices, origins }: Settings, io: CliIo): string {
  const screen = createScreen(io);
  const said = [`Workspace: ${printable(workspace)}`, modelLine, ...notices];
  const labelWidth = Math.max(...origins.map(({ path }) => path.length)) + 2;
  const rows = origins.map(({ path, value, from }) => ({
    label: path,
    text: from === 'default' ? value : `${value}  (${printable(from)})`,
    ...(from === 'default' ? { style: 'label' as const } : {}),
  }));
  const lines = [
    ...said.flatMap((line) => wrap(printable(line), screen.width)),
    '',
    ...layoutRows(rows, { ...screen, indent: 0, labelWidth }),
    '',
    'Dim values are defaults.',
  ];
  return `${(screen.paint('label', 'x') === 'x' ? lines.slice(0, -2) : lines).join('\n')}\n`;
}
