import type { CommandSpec } from './command-spec.ts';
import { settingOptions } from './shared-options.ts';

export const chatSpec: CommandSpec = {
  name: 'chat',
  group: 'work',
  summary: 'Talk with the agent at this terminal, in the folder you are in',
  options: [
    ...settingOptions,
    { flags: '--session <id>', text: 'Continue a conversation: its earlier messages come first' },
  ],
  details: [
    'Enter sends. Alt-Enter, Ctrl-J or a backslash at the end of a line begins a new line. Up and down go through what was typed before, Tab completes a command. What is typed while a turn is under way is added to it.',
    'Commands begin with a slash: /model, /tools, /why, /undo, /compact, /resume, /help, /exit, and those of your own: a file review.md in the folder .rerail/commands or in the folder commands of your own configuration is /review, and its text is sent to the model, with $ARGUMENTS replaced by what you type after the name.',
    'The first Ctrl-C cancels the turn and prints how to resume it; a second one within two seconds exits at once. If the terminal is closed, the run stays as it is, and rerail resume continues it.',
    'If the model wants something that needs approval, exactly what would happen is shown; only y and Enter approves it.',
  ],
  examples: [
    { line: 'rerail chat' },
    {
      line: 'rerail chat --model anthropic:claude-sonnet-5 --model openai:gpt-5.4',
      text: 'The second answers where the first fails',
    },
    { line: 'rerail chat --session 0b6c2a1e', text: 'Continue where you left' },
  ],
  exitCodes: [
    { code: 0, means: 'left with Ctrl-D or /exit' },
    { code: 129, means: 'the terminal was closed; 143 by SIGTERM' },
    { code: 130, means: 'left with Ctrl-C twice' },
  ],
  load: async () => (await import('../commands/chat-command.ts')).runChat,
};
