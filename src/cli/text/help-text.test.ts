import { describe, expect, it } from 'vitest';
import type { CommandSpec } from '../specs/command-spec.ts';
import { commands } from '../specs/commands.ts';
import { renderCommandHelp, renderHelp, usageOf } from './help-text.ts';
import { createPaint } from './paint.ts';

const screen = { width: 80, paint: createPaint(false) };
const load = (): Promise<never> => Promise.reject(new Error('help loads nothing'));

const spec: CommandSpec = {
  name: 'sail',
  group: 'work',
  summary: 'Sail to a port',
  args: [{ usage: '<port>', text: 'Where to' }],
  options: [
    { flags: '--a-flag-that-is-longer-than-most <value>', text: 'Something rare' },
    { flags: '--fast', text: 'With all sails' },
  ],
  details: ['The wind decides.'],
  examples: [{ line: 'rerail sail Bergen', text: 'Northwards' }],
  exitCodes: [{ code: 21, means: 'There was no wind' }],
  load,
};

describe('the help of a command', () => {
  it('says everything that the spec says', () => {
    expect(renderCommandHelp(spec, screen)).toBe(`Usage: rerail sail <port> [options]

Sail to a port.

The wind decides.

Arguments
  <port>  Where to

Options
  --a-flag-that-is-longer-than-most <value>
                              Something rare
  --fast                      With all sails
  -h, --help                  Print this help

Exit codes
  21  There was no wind

Examples
  Northwards
  rerail sail Bergen
`);
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    'fits 80 columns and ends with a line break: %s',
    (_name, command) => {
      const text = renderCommandHelp(command, screen);
      expect(text.startsWith(`Usage: ${usageOf(command)}\n`)).toBe(true);
      expect(text).toMatch(/[^\n]\n$/);
      const wide = text.split('\n').filter((line) => line.length > 80 && !line.startsWith('  curl'));
      expect(wide).toEqual([]);
    },
  );
});

describe('the help of all commands', () => {
  it('names each of them once, and no name twice', () => {
    const text = renderHelp(commands, { ...screen, prefix: '' });
    const named = commands.map(({ name }) => text.match(new RegExp(`^  ${name}  `, 'gm'))?.length);
    expect(named).toEqual(commands.map(() => 1));
  });
});
