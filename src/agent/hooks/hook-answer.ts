import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { findHistoryProblems } from '../../model/check/check-history.ts';
import { lookAtMessages } from '../../model/check/check-messages.ts';
import type { Message, ToolResultPart } from '../../model/message.ts';
import { showValue } from '../../model/check/show-value.ts';
import { legalActions } from './hook-rules.ts';
import type { HookAction } from './hook-rules.ts';
import type { Hook, HookPoint, Moments, SkipPoint, StandIns, TransformerPoint } from './hook.ts';
import { copyStrictJson } from '../report/strict-json.ts';

/** What a hook's answer means, or what is wrong with it in the words of a sentence that begins with "it". */
export type ReadAnswer<Point extends HookPoint> =
  | { readonly type: 'continue' }
  | { readonly type: 'modify'; readonly moment: Moments[Point] }
  | { readonly type: 'skip'; readonly standIn: StandIns[SkipPoint] }
  | { readonly type: 'halt'; readonly reason: string }
  | Nonsense;

interface Nonsense {
  readonly type: 'nonsense';
  readonly why: string;
}

/** Where an answer was given. */
export interface AnswerPlace<Point extends HookPoint> {
  readonly kind: Hook['kind'];
  readonly point: Point;
  /** What the hook received, as the transformers before it have left it. */
  readonly moment: Moments[Point];
}

/** Reads what a hook answered, whatever it is. Never throws; what it returns shares nothing with the answer. */
export function readAnswer<Point extends HookPoint>(
  answer: unknown,
  place: AnswerPlace<Point>,
): ReadAnswer<Point> {
  try {
    return read(answer, place);
  } catch {
    return nonsense('answered with an object that cannot be read'); // A getter or a Proxy threw.
  }
}

function read<Point extends HookPoint>(answer: unknown, place: AnswerPlace<Point>): ReadAnswer<Point> {
  const { kind, point, moment } = place;
  if (answer === undefined) return goOn;
  const action = isRecord(answer) ? answer['action'] : undefined;
  // An observer returns what its last expression gave, as in `(moment) => list.push(moment)`; only an action means something.
  if (kind === 'observer' && action === undefined) return goOn;
  if (!isRecord(answer)) return nonsense(`answered with ${showValue(answer)} instead of an action`);
  const legal = legalActions(kind, point) ?? [];
  if (!isOneOf(legal, action)) {
    return nonsense(`answered with the action ${showValue(action)}, where it can only ${legal.join(' or ')}`);
  }
  if (action === 'continue') return goOn;
  if (action === 'halt') return readHalt(answer['reason']);
  // The rules allow the two that are left only to transformers, at these points.
  if (action === 'skip') return readSkip(answer, point as SkipPoint);
  const change = modifiers[point as TransformerPoint] as (
    answer: Fields,
    moment: Moments[Point],
  ) => Changed<Point>;
  const changed = change(answer, moment);
  return typeof changed === 'string' ? nonsense(changed) : { type: 'modify', moment: changed };
}

type Fields = Readonly<Record<string, unknown>>;
/** The moment as it is now, or what is wrong with the change. */
type Changed<Point extends HookPoint> = Moments[Point] | string;

const goOn = { type: 'continue' } as const;
const nonsense = (why: string): Nonsense => ({ type: 'nonsense', why });
/** More than any model reads. */
const maxTextCharacters = 1_000_000;

function isOneOf(actions: readonly HookAction[], value: unknown): value is HookAction {
  return actions.some((action) => action === value);
}

function readHalt(reason: unknown): { readonly type: 'halt'; readonly reason: string } | Nonsense {
  if (typeof reason === 'string' && reason.trim() !== '') return { type: 'halt', reason };
  return nonsense(`answered with the action "halt" and no "reason" but ${showValue(reason)}`);
}

function readSkip(
  answer: Fields,
  point: SkipPoint,
): { readonly type: 'skip'; readonly standIn: StandIns[SkipPoint] } | Nonsense {
  if (point === 'before-model') {
    const { text } = answer;
    // An empty text would be a success that says nothing.
    if (isText(text) && text.trim() !== '') return { type: 'skip', standIn: { text } };
    return nonsense(`skipped the model with a "text" that must be ${textForm}, got ${showValue(text)}`);
  }
  const content = readContent(answer['content']);
  if (content !== undefined) return { type: 'skip', standIn: { content } };
  return nonsense(`skipped the tool with a "content" that must be ${contentForm}`);
}

const textForm = `a text with at most ${maxTextCharacters} characters that is not empty`;
const contentForm = `a text with at most ${maxTextCharacters} characters, or a list of text and image parts`;

/** How each point takes a change in. */
const modifiers: {
  readonly [Point in TransformerPoint]: (answer: Fields, moment: Moments[Point]) => Changed<Point>;
} = {
  'run-start': (answer, moment) => {
    const messages = readMessages(answer['messages']);
    return typeof messages === 'string' ? messages : { ...moment, input: messages };
  },
  'before-model': changeRequest,
  'after-model': (answer, moment) => {
    const { text } = answer;
    if (moment.result.toolCalls.length > 0) {
      return 'changed the text of an answer that calls tools; only a final answer, one without "toolCalls", can be changed';
    }
    if (!isText(text) || text.trim() === '') {
      return `changed the answer to a "text" that must be ${textForm}, got ${showValue(text)}`;
    }
    return { ...moment, result: { ...moment.result, text } };
  },
  'before-tool': (answer, moment) => {
    const input = copyStrictJson(answer['input']);
    if (input === undefined) return 'changed the tool call to an "input" that is no plain JSON';
    return { ...moment, call: { ...moment.call, input } };
  },
  'after-tool': (answer, moment) => {
    const content = readContent(answer['content']);
    if (content === undefined) return `changed the result to a "content" that must be ${contentForm}`;
    return { ...moment, end: { ...moment.end, content } };
  },
};

function changeRequest(answer: Fields, moment: Moments['before-model']): Changed<'before-model'> {
  const { messages, instructions } = answer;
  if (messages === undefined && instructions === undefined) {
    return 'answered with the action "modify" and neither "messages" nor "instructions"';
  }
  if (instructions !== undefined && !isText(instructions)) {
    return `changed "instructions" to ${showValue(instructions)}, which must be a text with at most ${maxTextCharacters} characters`;
  }
  const changed = messages === undefined ? moment.request.messages : readMessages(messages);
  if (typeof changed === 'string') return changed;
  const request = { ...moment.request, messages: changed };
  return { ...moment, request: instructions === undefined ? request : { ...request, instructions } };
}

function readMessages(value: unknown): readonly Message[] | string {
  const copied = copyStrictJson(value);
  if (copied === undefined) return 'changed "messages" to something that is no plain JSON';
  const [problem] = lookAtMessages(copied).problems;
  if (problem !== undefined) return `changed the messages, and ${problem}`;
  const messages = copied as readonly Json[] as readonly Message[]; // Looked at, message by message.
  const [broken] = findHistoryProblems(messages);
  return broken === undefined
    ? messages
    : `changed the messages to a conversation that no provider takes: ${broken}`;
}

/** A tool's result is checked as the part of a message that it will be. */
function readContent(value: unknown): ToolResultPart['content'] | undefined {
  if (typeof value === 'string') return isText(value) ? value : undefined;
  const part = { type: 'tool-result', callId: '', name: '', content: copyStrictJson(value) };
  if (lookAtMessages([{ role: 'tool', content: [part] }]).problems.length > 0) return undefined;
  return part.content as ToolResultPart['content']; // Looked at just now.
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTextCharacters;
}
