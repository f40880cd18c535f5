import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { boundText } from '../../base/text.ts';
import type { ModelRequest, ToolDefinition } from '../../model/request.ts';
import { readConversation, textOfMessage } from './conversation.ts';
import type { Conversation, PastCall } from './conversation.ts';
import { correctCall } from './correct-call.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { readFacts } from './facts.ts';
import { fixTests } from './fix-tests.ts';
import { fillArguments } from './fill-arguments.ts';
import type { Source } from './fill-arguments.ts';
import type { MindAnswer, MindCall } from './mind-answer.ts';
import { planCalls } from './plan-calls.ts';
import type { Wish } from './plan-calls.ts';
import { produceJson } from './produce-json.ts';
import { isAboutRerail, talk } from './talk.ts';

/** What the mind looks at. A whole `ModelRequest` will do. */
export type MindRequest = Pick<
  ModelRequest,
  'messages' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'output'
>;

/** A small deterministic stand-in for a language model: rules, no network, no state. */
export interface Mind {
  readonly answer: (request: MindRequest) => MindAnswer;
}

/** Calls for one request of a person, corrections included. After that the mind answers in words. */
const maxCallsPerWish = 20;
const maxQuoteLength = 1500;

/**
 * Makes a mind. Pure: the same seed and the same request give the same answer, on every machine. It never throws and
 * always answers with text or at least one call.
 */
export function createMind({ seed = 0 }: { readonly seed?: number } = {}): Mind {
  return {
    answer: (request) => {
      const conversation = readConversation(request.messages);
      const thought = think(request, { conversation, seed });
      const text = thought.text === undefined ? undefined : goOn(thought.text, conversation.begun);
      const answer = { ...(text === undefined ? {} : { text }), toolCalls: thought.toolCalls };
      return {
        ...answer,
        usage: {
          inputTokens: inputTokens(request),
          outputTokens: estimateTokens(JSON.stringify(answer).length),
        },
      };
    },
  };
}

type Thought = Omit<MindAnswer, 'usage'>;

interface Mood {
  readonly conversation: Conversation;
  readonly seed: number;
}

function think(request: MindRequest, { conversation, seed }: Mood): Thought {
  const tools = toolsFor(request);
  const source = sourceOf(conversation);
  const fix = fixTests(conversation, tools);
  if (fix !== undefined && fix.toolCalls.length > 0)
    return { ...fix, toolCalls: atOnce(fix.toolCalls, request) };
  if (fix !== undefined) return saying(fix.text, request, source);
  const calls = callsFor(request, { tools, conversation, source });
  if (calls.type === 'call') return { toolCalls: calls.calls };
  const results = conversation.calls.filter(({ result }) => result !== undefined);
  const said = [
    results.length === 0 ? '' : tellResults(results),
    calls.type === 'ask' ? askFor(calls.wish) : '',
  ].filter(Boolean);
  const text = said.length > 0 ? said.join('\n\n') : talk(conversation, { tools, seed });
  return saying(text, request, source);
}

/** In words, or in the form that was asked for. */
function saying(text: string, { output }: MindRequest, source: Source): Thought {
  if (output === undefined) return { text, toolCalls: [] };
  return { text: JSON.stringify(produceJson(output.schema, { source, text })), toolCalls: [] };
}

function toolsFor({ tools = [], toolChoice }: MindRequest): readonly ToolDefinition[] {
  if (toolChoice === 'none') return [];
  const named = isRecord(toolChoice) ? tools.filter(({ name }) => name === toolChoice['name']) : tools;
  return named.filter(({ name }) => name !== '');
}

function sourceOf({ userTexts, lastUserText, calls }: Conversation): Source {
  return {
    clause: lastUserText,
    text: lastUserText,
    earlier: userTexts.slice(0, -1).slice(-10),
    results: calls.flatMap(({ result }) =>
      result === undefined || result.isError ? [] : objectsIn(result.text),
    ),
    facts: readFacts(userTexts.slice(-50)),
  };
}

function objectsIn(text: string): readonly Readonly<Record<string, Json>>[] {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? [value as Readonly<Record<string, Json>>] : []; // From JSON.parse.
  } catch {
    return []; // Most results are plain text, which has no fields to take.
  }
}

type Decision =
  | { readonly type: 'call'; readonly calls: readonly MindCall[] }
  | { readonly type: 'ask'; readonly wish: Wish }
  | { readonly type: 'talk' };

interface Scene {
  readonly tools: readonly ToolDefinition[];
  readonly conversation: Conversation;
  readonly source: Source;
}

function callsFor(request: MindRequest, scene: Scene): Decision {
  const { tools, conversation, source } = scene;
  if (tools.length === 0 || conversation.calls.length >= maxCallsPerWish) return { type: 'talk' };
  const failed = conversation.calls.filter(({ result }) => result?.isError === true);
  if (failed.length > 0) {
    const corrections = correctionsOf(failed, scene);
    return corrections.length === 0 ? { type: 'talk' } : callSome(corrections, request);
  }
  const isForced = request.toolChoice === 'required' || isRecord(request.toolChoice);
  const stages = answeredWish(scene) ?? planCalls(tools, source);
  const open = findOpen(stages, conversation.calls);
  const ready = open.filter(({ missing }) => missing.length === 0);
  const isQuestion = isAboutRerail(source.text) && ready.every((wish) => isDoubtful(wish));
  if (ready.length > 0 && (isForced || !isQuestion)) return callSome(ready, request);
  if (isForced && conversation.calls.length === 0)
    return { type: 'call', calls: [forcedCall(open[0], scene)] };
  const [wish] = open;
  return wish === undefined || isQuestion ? { type: 'talk' } : { type: 'ask', wish };
}

function callSome(calls: readonly MindCall[], request: MindRequest): Decision {
  const plain = calls.map(({ name, arguments: given }) => ({ name, arguments: given }));
  return { type: 'call', calls: atOnce(plain, request) };
}

function atOnce(calls: readonly MindCall[], { parallelToolCalls }: MindRequest): readonly MindCall[] {
  return parallelToolCalls === false ? calls.slice(0, 1) : calls;
}

/** Asked for by a word or two, and without anything to do it with. */
function isDoubtful({ score, arguments: given }: Wish): boolean {
  return score < 8 && Object.keys(given).length === 0;
}

/** One correction for each tool: a second failure is told to the person. */
function correctionsOf(
  failed: readonly PastCall[],
  { tools, source, conversation }: Scene,
): readonly MindCall[] {
  // A call that failed and succeeded later is not open any more.
  const isOpen = (call: PastCall): boolean =>
    conversation.calls.filter(({ name }) => name === call.name).at(-1)?.result?.isError === true;
  return failed
    .filter((call) => isOpen(call) && failed.filter(({ name }) => name === call.name).length === 1)
    .flatMap((call) => correctCall(call, { tools, source }) ?? []);
}

/** The first wishes that were not granted yet, in the order of the sentence. */
function findOpen(stages: readonly (readonly Wish[])[], calls: readonly PastCall[]): readonly Wish[] {
  const made = new Map<string, number>();
  for (const { name } of calls) made.set(name, (made.get(name) ?? 0) + 1);
  for (const stage of stages) {
    const open = stage.filter(({ name }) => {
      const left = made.get(name) ?? 0;
      made.set(name, left - 1);
      return left <= 0;
    });
    if (open.length > 0) return open;
  }
  return [];
}

const question = /To use (\S+) I still need: ([^.\n]+)\./;

function askFor({ name, missing }: Wish): string {
  return `To use ${name} I still need: ${missing.join(', ')}. What should I take?`;
}

/** The person's answer to a question of ours, put together with what was asked for before. */
function answeredWish({ conversation, tools, source }: Scene): readonly (readonly Wish[])[] | undefined {
  const asked = question.exec(conversation.lastAssistantText);
  const tool = tools.find(({ name }) => name === asked?.[1]);
  const before = conversation.userTexts.at(-2);
  if (asked === null || tool === undefined || before === undefined) return undefined;
  if (planCalls(tools, source).some((stage) => stage.some(({ score }) => score >= 3))) return undefined;
  const text = `${before}, ${source.text}`;
  const filled = fillArguments(tool, { ...source, text, clause: text });
  const [only, ...others] = filled.missing;
  const plain = source.text.trim();
  // A bare answer to a question for one thing is that thing.
  if (only !== undefined && others.length === 0 && plain !== '') {
    return [[{ name: tool.name, score: 3, arguments: { ...filled.arguments, [only]: plain }, missing: [] }]];
  }
  return [[{ name: tool.name, score: 3, ...filled }]];
}

/** The caller insists on a call: what is not known is filled with the plainest value that the schema allows. */
function forcedCall(wish: Wish | undefined, { tools, source }: Scene): MindCall {
  const tool = tools.find(({ name }) => name === wish?.name) ?? tools[0];
  if (tool === undefined) return { name: '', arguments: {} };
  const made = produceJson(tool.parameters, { source, text: source.text });
  const found = fillArguments(tool, source).arguments;
  return {
    name: tool.name,
    arguments: isRecord(made) ? { ...(made as MindCall['arguments']), ...found } : found,
  };
}

/** Says what came of the calls in the tools' own words: nothing is added and no error is hidden. */
function tellResults(calls: readonly PastCall[]): string {
  return calls
    .map(({ name, result }) => {
      const quote = boundText(result?.text.trim() ?? '', maxQuoteLength);
      if (result?.isError === true) return `The tool ${name} failed: ${quote || 'it gave no reason'}`;
      return quote === ''
        ? `The tool ${name} finished without saying anything.`
        : `The tool ${name} answered: ${quote}`;
    })
    .join('\n');
}

/** What is left of an answer whose beginning was already said. */
function goOn(text: string, begun: string): string {
  if (begun === '' || !text.startsWith(begun)) return text;
  return text.slice(begun.length) || ' ';
}

function inputTokens({ messages, tools }: MindRequest): number {
  const characters = messages.reduce((sum, message) => sum + textOfMessage(message).length + 8, 0);
  return (
    estimateTokens(characters) + (tools === undefined ? 0 : estimateTokens(JSON.stringify(tools).length))
  );
}
