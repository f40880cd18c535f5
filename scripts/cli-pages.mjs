// The pages of the command line: one for each command and a list of them, from the specs that `--help` is made from.
import { commands } from '../dist/cli/specs/commands.js';
import { usageOf } from '../dist/cli/text/help-text.js';

/** @typedef {import('../dist/cli/specs/command-spec.js').CommandSpec} CommandSpec */

const groups = { work: 'Work', look: 'Look at runs', mend: 'Set up and repair', learn: 'Learn' };

/** @returns {readonly { readonly path: string, readonly text: string }[]} */
export function cliPages() {
  return [
    { path: 'docs/cli/README.md', text: listPage() },
    ...commands.map((spec) => ({ path: `docs/cli/${fileOf(spec)}`, text: commandPage(spec) })),
  ];
}

/** @param {CommandSpec} spec */
function fileOf({ name }) {
  return `${name.replaceAll(' ', '-')}.md`;
}

function listPage() {
  const sections = Object.entries(groups).flatMap(([group, title]) => {
    const rows = commands.filter((spec) => spec.group === group);
    if (rows.length === 0) return [];
    const lines = rows.map((spec) => `| [\`${spec.name}\`](${fileOf(spec)}) | ${cell(spec.summary)} |`);
    return [`## ${title}`, '', '| command | what it does |', '| --- | --- |', ...lines, ''];
  });
  return ['# The commands', '', made, '', ...sections].join('\n');
}

const made = '<!-- Made from the specs in src/cli by `npm run docs`. -->';

/** @param {CommandSpec} spec */
function commandPage(spec) {
  const { args = [], options = [], details = [], examples, exitCodes = [] } = spec;
  const rows = [
    ...table(
      ['argument', 'meaning'],
      args.map(({ usage, text }) => [`\`${usage}\``, text]),
    ),
    ...table(
      ['option', 'meaning'],
      options.map(({ flags, text, choices }) => [`\`${flags}\``, withChoices(text, choices)]),
    ),
    ...table(
      ['exit code', 'meaning'],
      exitCodes.map(({ code, means }) => [`\`${code}\``, means]),
    ),
  ];
  const shown = examples.flatMap(({ line, text }) => [...(text === undefined ? [] : [`# ${text}`]), line]);
  return [
    `# rerail ${spec.name}`,
    '',
    made,
    '',
    `${spec.summary}.`,
    '',
    '```sh',
    usageOf(spec),
    '```',
    '',
    ...details.flatMap((text) => [text, '']),
    ...rows,
    ...(shown.length === 0 ? [] : ['## Examples', '', '```sh', ...shown, '```', '']),
  ].join('\n');
}

/** @param {string} text @param {readonly string[] | undefined} choices */
function withChoices(text, choices) {
  return choices === undefined ? text : `${text} (${choices.map((choice) => `\`${choice}\``).join(', ')})`;
}

/**
 * @param {readonly [string, string]} head
 * @param {readonly (readonly [string, string])[]} rows
 */
function table(head, rows) {
  if (rows.length === 0) return [];
  const lines = rows.map(([name, text]) => `| ${cell(name)} | ${cell(text)} |`);
  return [`| ${head.join(' | ')} |`, '| --- | --- |', ...lines, ''];
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', String.raw`\|`).replaceAll('<', text.startsWith('`') ? '<' : '&lt;');
}
