import type { CommandGroup, CommandSpec } from '../specs/command-spec.ts';
import { layoutRows } from './layout.ts';
import type { Row, Screen } from './layout.ts';
import { wrap } from './wrap.ts';

const groups: Readonly<Record<CommandGroup, string>> = {
  work: 'Work',
  look: 'Look at runs',
  mend: 'Set up and repair',
  learn: 'Learn',
};

/** What `rerail --help` shows: the commands by group. `prefix` is the word they share, as in `rerail chaos`. */
export function renderHelp(
  commands: readonly CommandSpec[],
  { prefix, ...screen }: Screen & { readonly prefix: string },
): string {
  const labelWidth = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const sections = Object.entries(groups).flatMap(([group, title]) => {
    const rows = commands
      .filter((command) => command.group === group)
      .map(({ name, summary }) => ({ label: name, text: summary }));
    if (rows.length === 0) return [];
    return ['', title, ...layoutRows(rows, { ...screen, indent: 2, labelWidth })];
  });
  const name = prefix === '' ? 'rerail' : `rerail ${prefix}`;
  const about = prefix === '' ? [...wrap(purpose, screen.width), ''] : [];
  const lines = [
    ...about,
    `Usage: ${name} <command> [options]`,
    ...sections,
    '',
    ...wrap(
      `Type ${name} <command> --help for one of them. ${prefix === '' ? ending : ''}`.trim(),
      screen.width,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const purpose =
  'An agent at work in a folder, and the means to understand a run that has failed. Without a key the embedded model plays its part.';

const ending =
  'Exit codes: 0 done, 2 wrong usage, 70 a defect in rerail; each command says which others it has.';

/** What `rerail <command> --help` shows. */
export function renderCommandHelp(spec: CommandSpec, screen: Screen): string {
  const { args = [], options = [], details = [], examples, exitCodes = [] } = spec;
  const lines = [
    `Usage: ${usageOf(spec)}`,
    '',
    ...wrap(`${spec.summary}.`, screen.width),
    ...details.flatMap((text) => ['', ...wrap(text, screen.width)]),
    ...section(
      'Arguments',
      args.map(({ usage, text }) => ({ label: usage, text })),
      screen,
    ),
    ...section('Options', [...options.map(({ flags, text }) => ({ label: flags, text })), helpRow], screen),
    ...section(
      'Exit codes',
      exitCodes.map(({ code, means }) => ({ label: String(code), text: means })),
      screen,
    ),
    ...exampleLines(spec, screen),
  ];
  return `${lines.join('\n')}\n`.replace(examples.length === 0 ? /\n+$/ : /$^/, '\n');
}

/** `rerail run [words...] [options]`. */
export function usageOf({ name, args = [], options = [] }: CommandSpec): string {
  return [
    'rerail',
    name,
    ...args.map(({ usage }) => usage),
    ...(options.length === 0 ? [] : ['[options]']),
  ].join(' ');
}

const helpRow: Row = { label: '-h, --help', text: 'Print this help' };
const maxLabelWidth = 28;

function section(title: string, rows: readonly Row[], screen: Screen): readonly string[] {
  if (rows.length === 0) return [];
  const labelWidth = Math.min(maxLabelWidth, Math.max(...rows.map(({ label }) => label.length)) + 2);
  const lines = rows.flatMap((row) => {
    if (row.label.length < labelWidth) return layoutRows([row], { ...screen, indent: 2, labelWidth });
    // A long one has a line of its own.
    return [
      `  ${screen.paint('label', row.label)}`,
      ...layoutRows([{ ...row, label: '' }], { ...screen, indent: 2, labelWidth }),
    ];
  });
  return ['', title, ...lines];
}

function exampleLines({ examples }: CommandSpec, screen: Screen): readonly string[] {
  if (examples.length === 0) return [];
  const lines = examples.flatMap(({ line, text }) => [
    ...(text === undefined
      ? []
      : wrap(`  ${text}`, screen.width).map((words) => screen.paint('label', words))),
    `  ${line}`,
  ]);
  return ['', 'Examples', ...lines];
}
