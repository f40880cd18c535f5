import type { ToolDefinition } from '../../model/request.ts';
import { evaluate, findExpression } from './arithmetic.ts';
import type { Conversation } from './conversation.ts';
import { talkOfFacts } from './facts.ts';
import { hashText } from './hash-text.ts';
import { intents } from './intents.ts';

interface Talking {
  readonly tools: readonly ToolDefinition[];
  readonly seed: number;
}

const social: ReadonlySet<string> = new Set(['thanks', 'goodbye', 'how-are-you', 'greeting']);
const maxToolNames = 20;
const maxHashedLength = 1000;

/** Whether a person wants something about Rerail explained, so that a tool of a similar name is not meant. */
export function isAboutRerail(text: string): boolean {
  return intents.some(({ name, pattern }) => !social.has(name) && pattern.test(text));
}

/** An answer in words, without any tool. Says so where it cannot know. */
export function talk({ lastUserText, userTexts }: Conversation, { tools, seed }: Talking): string {
  const text = lastUserText;
  if (text.trim() === '') return `There is nothing for me to answer yet. ${toolsText(tools)}`;
  const expression = findExpression(text);
  const sum = expression === undefined ? undefined : evaluate(expression);
  if (sum !== undefined) return `${expression} = ${sum}`;
  const intent = intents.find(({ pattern }) => pattern.test(text));
  const isSmallTalk = intent === undefined || social.has(intent.name);
  const fact = isSmallTalk ? talkOfFacts(text, userTexts) : undefined;
  if (fact !== undefined) return fact;
  if (intent !== undefined)
    return choose(intent.answers, { text, seed }).replace('{tools}', toolsText(tools));
  return `I am a simulated model and cannot know that. I can talk about Rerail, do sums and remember what you tell me here. ${toolsText(tools)}`;
}

function toolsText(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return 'I have no tools in this conversation.';
  const names = tools.slice(0, maxToolNames).map(({ name }) => name);
  return `My tools here: ${names.join(', ')}${tools.length > maxToolNames ? ' and more' : ''}.`;
}

function choose(
  answers: readonly [string, ...string[]],
  { text, seed }: { text: string; seed: number },
): string {
  return answers[hashText(`${seed}:${text}`.slice(0, maxHashedLength)) % answers.length] ?? answers[0];
}
