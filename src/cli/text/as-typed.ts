import { commands } from '../specs/commands.ts';

/**
 * A text that names a command of ours, with the words that start the program here: who uses it by `npx` has no `rerail` to type. What is
 * written in full already stays.
 */
export function asTyped(text: string, command: string): string {
  return command === 'rerail' ? text : text.replaceAll(bareCommand, () => command);
}

const firstWords = [...new Set(commands.map(({ name }) => name.split(' ', 1)[0]))].join('|');
const bareCommand = new RegExp(`(?<![\\w./-]|npx )rerail(?= (?:--help|(?:${firstWords})\\b))`, 'g');
