/**
 * What calls did, in few words. A call of a tool that is not `read` may have changed something; whatever else is removed from a
 * conversation, the model must still see that it was made, or it makes it again. So every note that stands for removed messages
 * ends with a list of their effects, and a note that is itself removed hands its list on to the next one.
 *
 * - A line has tool, arguments, outcome and the head of the result. Where room is short, old lines lose their result; tool, arguments
 *   and outcome stay.
 * - The list has at most 500 calls. Of more, the oldest become a count for each tool and outcome, which says that they are not listed.
 * - Text of models and tools stays inside its line: it can neither end the list nor add to it.
 */
import { textOf } from './message.ts';
import type { Message, ToolCallPart, ToolResultPart } from './message.ts';

/** How a call ended, as far as its result says. */
export type EffectOutcome = 'ok' | 'failed' | 'not known';

/** One call that may have changed something, or a number of older ones. */
export type Effect =
  | {
      readonly type: 'call';
      readonly tool: string;
      readonly input: string;
      readonly outcome: EffectOutcome;
      readonly result: string;
    }
  | {
      readonly type: 'older';
      readonly tool: string;
      readonly outcome: EffectOutcome;
      readonly count: number;
    };

/** Whether calls of this tool change nothing. An unknown tool may change something. */
export type IsRead = (tool: string) => boolean;

/** How much a list says of each call. */
export interface EffectDetail {
  readonly inputCharacters: number;
  readonly resultCharacters: number;
}

/** From all that a list holds to the least that it may hold. */
export const effectDetails: readonly [EffectDetail, ...EffectDetail[]] = [
  { inputCharacters: 200, resultCharacters: 200 },
  { inputCharacters: 200, resultCharacters: 80 },
  { inputCharacters: 100, resultCharacters: 0 },
];

const maxListed = 500;
const maxTools = 50;
const maxToolCharacters = 80;
/** What went wrong, and what the latest calls gave, is needed most. */
const leastResultCharacters = 100;
const latest = 3;

/** By message, the effects that go with it: those of its calls, or those that a note lists. */
export function effectsByMessage(
  messages: readonly Message[],
  isRead: IsRead,
): readonly (readonly Effect[])[] {
  return messages.map((message, index) => {
    if (message.role === 'user') return listedIn(message);
    if (message.role !== 'assistant' || typeof message.content === 'string') return none;
    const calls = message.content.filter(
      (part): part is ToolCallPart => part.type === 'tool-call' && !isRead(part.name),
    );
    if (calls.length === 0) return none;
    const results = resultsAfter(messages, index);
    return calls.map((call) => effectOf(call, results.get(call.callId)));
  });
}

/** All effects of a conversation, the oldest first. */
export function effectsIn(messages: readonly Message[], isRead: IsRead): readonly Effect[] {
  return effectsByMessage(messages, isRead).flat();
}

/** How many calls these are. */
export function countEffects(effects: readonly Effect[]): number {
  return effects.reduce((sum, effect) => sum + (effect.type === 'call' ? 1 : effect.count), 0);
}

/** The same without so many of the oldest. */
export function withoutOldest(effects: readonly Effect[], count: number): readonly Effect[] {
  let left = count;
  return effects.flatMap((effect): readonly Effect[] => {
    const own = effect.type === 'call' ? 1 : effect.count;
    const gone = Math.min(left, own);
    left -= gone;
    if (gone === 0) return [effect];
    return effect.type === 'older' && gone < own ? [{ ...effect, count: own - gone }] : [];
  });
}

/** The list as a text; empty where there are no effects. */
export function writeEffects(effects: readonly Effect[], detail: EffectDetail = effectDetails[0]): string {
  if (effects.length === 0) return '';
  const bounded = boundEffects(effects);
  const lines = bounded.map((effect, index) =>
    writeEffect(effect, index >= bounded.length - latest ? withResult(detail) : detail),
  );
  return [opening, startTag, ...lines, endTag].join('\n');
}

/** The text of a note before its list, and the list. */
export function splitNote(content: string): { readonly text: string; readonly list: string } {
  const at = content.lastIndexOf(`${opening}\n${startTag}\n`);
  return at === -1 ? { text: content, list: '' } : { text: content.slice(0, at), list: content.slice(at) };
}

/** Text that was written elsewhere, so that it cannot pass for a list. */
export function withoutTags(text: string): string {
  return text.replaceAll(/<(\/?)effects>/giu, '($1effects)');
}

/** Begins every message that is from the runtime and not from a person. */
export const notePrefix = '[Note from the runtime] ';

const opening =
  'These calls were made in the part that is not shown here, the oldest first. Each may have changed something: do not make one again because it is no longer shown in full, and where its outcome is not known, check first.';
const startTag = '<effects>';
const endTag = '</effects>';
const none: readonly Effect[] = [];

function listedIn({ content }: Message): readonly Effect[] {
  if (typeof content !== 'string' || !content.startsWith(notePrefix)) return none;
  const { list } = splitNote(content);
  return list === '' ? none : list.split('\n').flatMap((line) => readLine(line) ?? []);
}

function resultsAfter(messages: readonly Message[], index: number): ReadonlyMap<string, ToolResultPart> {
  const results = new Map<string, ToolResultPart>();
  for (let place = index + 1; place < messages.length; place += 1) {
    const message = messages[place];
    if (message === undefined || message.role === 'assistant') break;
    if (message.role !== 'tool') continue;
    for (const result of message.content) if (!results.has(result.callId)) results.set(result.callId, result);
  }
  return results;
}

/** What the runtime itself says of a call whose end it did not see: see `agent/cancel.ts`, `agent/repair-texts.ts`, `errors/code-texts.ts`. */
const unknownMark = /may or may not have happened|It is not known whether/u;

function effectOf({ name, argumentsText }: ToolCallPart, result: ToolResultPart | undefined): Effect {
  const [full] = effectDetails;
  const text = result === undefined ? '' : resultText(result);
  return {
    type: 'call',
    tool: cutEnd(oneLine(name).replaceAll(/[\s()]/gu, '_'), maxToolCharacters) || '_',
    input: cutMiddle(oneLine(argumentsText), full.inputCharacters),
    outcome: outcomeOf(result, text),
    result: cutEnd(oneLine(text), full.resultCharacters),
  };
}

function outcomeOf(result: ToolResultPart | undefined, text: string): EffectOutcome {
  if (result === undefined) return 'not known';
  if (result.isError !== true) return 'ok';
  return unknownMark.test(text) ? 'not known' : 'failed';
}

/** The head of a result as the tool gave it: without the words of an earlier compaction. */
function resultText({ content }: ToolResultPart): string {
  const text = typeof content === 'string' ? content : textOf(content);
  const [head = ''] = text.split(removedMark);
  return head;
}

const removedMark =
  /\n?\((?:\d+ characters were|The rest of this result was) removed (?:here )?to save room/u;

function boundEffects(effects: readonly Effect[]): readonly Effect[] {
  const calls = effects.filter(({ type }) => type === 'call');
  const surplus = Math.max(0, calls.length - maxListed);
  const older = new Map<string, Extract<Effect, { type: 'older' }>>();
  for (const effect of [...effects.filter(({ type }) => type === 'older'), ...calls.slice(0, surplus)]) {
    const count = effect.type === 'older' ? effect.count : 1;
    const { outcome } = effect;
    const isRoom = older.size < maxTools || older.has(`${effect.tool} ${outcome}`);
    const tool = isRoom ? effect.tool : 'other_tools';
    const key = `${tool} ${outcome}`;
    older.set(key, { type: 'older', tool, outcome, count: count + (older.get(key)?.count ?? 0) });
  }
  return [...older.values(), ...calls.slice(surplus)];
}

function writeEffect(effect: Effect, { inputCharacters, resultCharacters }: EffectDetail): string {
  const { tool, outcome } = effect;
  if (effect.type === 'older')
    return `- ${effect.count} older ${effect.count === 1 ? 'call' : 'calls'} of ${tool}, not listed → ${outcome}`;
  const characters = outcome === 'ok' ? resultCharacters : Math.max(resultCharacters, leastResultCharacters);
  const result = characters === 0 ? '' : cutEnd(effect.result, characters);
  const said = result === '' ? '' : `: ${result}`;
  return `- ${tool}(${cutMiddle(effect.input, inputCharacters)}) → ${outcome}${said}`;
}

function withResult({ inputCharacters, resultCharacters }: EffectDetail): EffectDetail {
  return { inputCharacters, resultCharacters: Math.max(resultCharacters, leastResultCharacters) };
}

const olderLine = /^- (\d{1,9}) older calls? of (\S+), not listed → (ok|failed|not known)$/u;
const callLine = /^- ([^\s(]+)\(([^→]*)\) → (ok|failed|not known)(?:: (.*))?$/u;

function readLine(line: string): Effect | undefined {
  const older = olderLine.exec(line);
  if (older !== null) {
    const [, count = '', tool = '', outcome] = older;
    return { type: 'older', tool, outcome: outcome as EffectOutcome, count: Number(count) };
  }
  const call = callLine.exec(line);
  if (call === null) return undefined;
  const [, tool = '', input = '', outcome, result = ''] = call;
  return { type: 'call', tool, input, outcome: outcome as EffectOutcome, result };
}

function oneLine(text: string): string {
  // More than any line shows need not be looked at; of long arguments the end is shown as well.
  const shown = text.length <= 2000 ? text : `${text.slice(0, 1000)}${text.slice(-1000)}`;
  return withoutTags(shown).replaceAll(/\s+/gu, ' ').replaceAll('→', '->').trim();
}

function cutEnd(text: string, characters: number): string {
  return text.length <= characters ? text : `${whole(text.slice(0, characters - 1))}…`;
}

/** The end often distinguishes what begins alike. */
function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const tail = Math.floor(characters / 3);
  return `${whole(text.slice(0, characters - tail - 1))}…${whole(text.slice(text.length - tail))}`;
}

/** Without half a surrogate pair at either end. */
function whole(text: string): string {
  return text.replaceAll(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
