import { nearestNames } from '../../base/nearest.ts';

/** What was typed: a command of the chat, or a message. */
export type Typed =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'command'; readonly name: string; readonly given: string };

/** A first word with one slash before it is a command; a path is none. */
export function readTyped(text: string): Typed {
  const found = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (found === null) return { type: 'message', text };
  return { type: 'command', name: (found[1] ?? '').toLowerCase(), given: (found[2] ?? '').trim() };
}

/** What to say about a command that there is not. */
export function unknownCommand(name: string, known: readonly string[]): string {
  const [nearest] = nearestNames(name, known);
  const advice = nearest === undefined ? '/help lists them all' : `did you mean /${nearest}?`;
  return `There is no command /${name}: ${advice}`;
}

/** What Tab makes of a text, and what it could become where there are several. */
export interface Completion {
  readonly text: string;
  readonly choices: readonly string[];
}

/** Completes the name of a command, or what may stand after it. Nothing where there is nothing to complete. */
export function complete(
  text: string,
  names: readonly string[],
  argumentsOf: (name: string) => readonly string[],
): Completion | undefined {
  const found = /^\/([\w-]*)$/.exec(text);
  if (found !== null) return choose('/', found[1] ?? '', names);
  const withArgument = /^\/([\w-]+) +(\S*)$/.exec(text);
  if (withArgument === null) return undefined;
  const [, name = '', given = ''] = withArgument;
  return choose(`/${name} `, given, argumentsOf(name));
}

function choose(before: string, begun: string, candidates: readonly string[]): Completion | undefined {
  const fitting = candidates.filter((candidate) => candidate.startsWith(begun));
  const [only] = fitting;
  if (only === undefined) return undefined;
  if (fitting.length === 1) return { text: `${before}${only} `, choices: [] };
  const common = fitting.reduce(commonStart);
  return { text: `${before}${common}`, choices: common === begun ? fitting : [] };
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
