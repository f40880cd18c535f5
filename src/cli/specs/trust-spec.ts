import type { CommandSpec } from './command-spec.ts';

export const trustSpec: CommandSpec = {
  name: 'trust',
  group: 'work',
  summary: 'Say that the configuration found in a folder may be used',
  args: [{ usage: '[folder]', text: 'The workspace; this folder by default' }],
  options: [
    { flags: '--yes', text: 'Do not ask; needed where no terminal is there to ask on' },
    { flags: '--remove', text: 'Take it back, for everything in the folder' },
  ],
  details: [
    'A configuration is code, and a folder that was downloaded may bring one along. So nothing of rerail.config.*, .env and .rerail/commands is used until you have said so, for exactly the content that you were shown: after any change you are asked again. What a configuration imports counts as part of it: files by a relative path, and packages with what they depend on.',
    'The list is kept in $XDG_STATE_HOME/rerail/trust.json. Your own file in $XDG_CONFIG_HOME/rerail needs none of this.',
  ],
  examples: [
    { line: 'rerail trust' },
    { line: 'rerail trust ~/shop --yes' },
    { line: 'rerail trust --remove' },
  ],
  exitCodes: [{ code: 22, means: 'Not confirmed; nothing was trusted' }],
  load: async () => (await import('../commands/trust-command.ts')).runTrust,
};
