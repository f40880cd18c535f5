/**
 * Makes a conversation one that every provider takes, and says what it changed.
 *
 * - Results stand directly behind the answer with their calls, each call has one, and nothing else is claimed: where no
 *   result is known, the one that is added says so.
 * - Nothing is lost but what is empty or there twice: what cannot stay a call or a result becomes plain text.
 * - A result belongs to the last call before it with its id, never to an older or a later one: some servers count ids from the
 *   start in every turn.
 * - What is not even of the shape of a message is misuse. It is left alone, for `checkRequest` refuses it by name.
 */
import { lookAtMessages } from '../../model/check/check-messages.ts';
import { partsOf } from '../../model/message.ts';
import type { AssistantPart, Message, ToolResultPart, UserPart } from '../../model/message.ts';
import { showName } from '../../model/check/show-value.ts';
import { toToolName } from '../../model/tool-name.ts';
import { claimResults } from './claim-results.ts';
import type { Claim, Slot, Turn } from './claim-results.ts';
import { badCallText, badResult, looseResult, missingOpening, unknownOutcome } from './repair-texts.ts';

/** A conversation that providers take, with one sentence for everything that was changed. */
export interface RepairedHistory {
  /** The same list where nothing was wrong. */
  readonly messages: readonly Message[];
  readonly repairs: readonly string[];
}

const maxRepairs = 100;

/** Makes a conversation valid. Only what is empty or there twice is dropped. */
export function repairHistory(messages: readonly Message[]): RepairedHistory {
  const nothing: RepairedHistory = { messages, repairs: [] };
  if (!isReadable(messages)) return nothing;
  const work: Work = { messages, ...claimResults(messages), repaired: [], repairs: [] };
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') addLooseResults(work, index, message.content);
    else if (isEmpty(message))
      work.repairs.push(`messages[${index}]: the ${message.role} message was empty and was dropped.`);
    else if (message.role === 'assistant') addTurn(work, index, message);
    else work.repaired.push(message);
  }
  openWithUser(work);
  const { repairs, repaired } = work;
  if (repairs.length === 0) return nothing;
  const left = repairs.length - maxRepairs;
  return {
    messages: repaired,
    repairs: left > 0 ? [...repairs.slice(0, maxRepairs), `And ${left} more repairs.`] : repairs,
  };
}

interface Work extends ReturnType<typeof claimResults> {
  readonly messages: readonly Message[];
  readonly repaired: Message[];
  readonly repairs: string[];
}

function isReadable(messages: readonly Message[]): boolean {
  try {
    return lookAtMessages(messages).problems.length === 0;
  } catch {
    return false; // A member that throws when it is read is misuse as well: see above.
  }
}

function isEmpty({ content }: Message): boolean {
  if (typeof content === 'string') return content.trim() === '';
  return content.every((part) => part.type === 'text' && part.text.trim() === '');
}

/** Adds an answer of the model, and behind it what came of its calls. */
function addTurn(work: Work, index: number, message: Message & { readonly role: 'assistant' }): void {
  const turn = work.turns.get(index);
  if (turn === undefined) {
    work.repaired.push(message);
    return;
  }
  work.repaired.push(repairCalls(work, index, message));
  addResults(work, index, turn);
  addUnknown(work, index, turn);
  const bad = turn.slots.filter(({ hasBadArguments }) => hasBadArguments);
  if (bad.length === 0) return;
  const content = bad.flatMap(({ call, claim }) => badResult(call, claim?.result));
  work.repaired.push({ role: 'user', content });
}

function repairCalls(work: Work, index: number, message: Message & { readonly role: 'assistant' }): Message {
  const slots = work.turns.get(index)?.slots ?? [];
  const changed = new Map(slots.filter(isChanged).map((slot) => [slot.place, slot]));
  if (changed.size === 0) return message;
  const content = partsOf(message.content).map((part, place): AssistantPart => {
    const slot = changed.get(place);
    if (slot === undefined) return part;
    const { call, callId, hasBadArguments } = slot;
    if (hasBadArguments) {
      say(
        work,
        index,
        `${nameSlot(slot)} had arguments that are not a JSON object, so the call and its result were written as text`,
      );
      return { type: 'text', text: badCallText(call) };
    }
    const name = toToolName(call.name);
    if (name !== call.name)
      say(work, index, `${nameSlot(slot)} had a name that providers refuse and is now of ${showName(name)}`);
    if (callId !== call.callId)
      say(
        work,
        index,
        `${nameSlot(slot)} had the "callId" of another call of the same answer and is now ${showName(callId)}`,
      );
    return { ...call, callId, name };
  });
  return { role: 'assistant', content };
}

function isChanged({ call, callId, hasBadArguments }: Slot): boolean {
  return hasBadArguments || callId !== call.callId || toToolName(call.name) !== call.name;
}

/** Adds the results in the order in which they came. A message of which nothing is changed stays the same object. */
function addResults(work: Work, index: number, { claims }: Turn): void {
  let end = index + 1;
  while (work.messages[end]?.role === 'tool') end += 1;
  for (let from = 0, next = 0; from < claims.length; from = next) {
    const at = claims[from]?.at;
    while (claims[next]?.at === at && next < claims.length) next += 1;
    const group = claims.slice(from, next).filter(({ slot }) => !slot.hasBadArguments);
    if (at === undefined || group.length === 0) continue;
    const content = group.map((claim) => repairResult(work, claim));
    if (at >= end) {
      for (const { slot } of group)
        say(work, at, `the result of ${nameSlot(slot)} did not follow its call and was moved behind it`);
    }
    const source = work.messages[at];
    const isWhole =
      source?.content.length === content.length &&
      content.every((part, place) => part === source.content[place]);
    work.repaired.push(isWhole ? source : { role: 'tool', content });
  }
}

function repairResult(work: Work, { slot, result, at }: Claim): ToolResultPart {
  const name = toToolName(slot.call.name);
  if (result.name !== slot.call.name) {
    say(
      work,
      at,
      `the result of ${nameSlot(slot)} said that it was of tool ${showName(result.name)} and was given the name of its call`,
    );
  }
  if (result.name === name && result.callId === slot.callId) return result;
  return { ...result, name, callId: slot.callId };
}

function addUnknown(work: Work, index: number, { slots }: Turn): void {
  const open = slots.filter(({ claim, hasBadArguments }) => claim === undefined && !hasBadArguments);
  if (open.length === 0) return;
  for (const slot of open)
    say(
      work,
      index,
      `${nameSlot(slot)} had no result, so one was added that says that its outcome is not known`,
    );
  const content = open.map(({ call, callId }): ToolResultPart => ({
    type: 'tool-result',
    callId,
    name: toToolName(call.name),
    content: unknownOutcome,
    isError: true,
  }));
  work.repaired.push({ role: 'tool', content });
}

/** Adds the results that belong to no call as text, for the model may have built on them. */
function addLooseResults(work: Work, index: number, results: readonly ToolResultPart[]): void {
  if (results.length === 0)
    work.repairs.push(`messages[${index}]: the tool message was empty and was dropped.`);
  const loose: UserPart[] = [];
  for (const [place, result] of results.entries()) {
    const link = work.links.get(index)?.[place];
    if (link?.type === 'claim') continue;
    const name = `the result ${showName(result.callId)} of tool ${showName(result.name)}`;
    if (link?.type === 'same') {
      say(work, index, `${name} was there twice and was dropped`);
      continue;
    }
    const why = link === undefined ? 'has no call before it' : 'is a second one for its call';
    say(work, index, `${name} ${why} and was written as text`);
    loose.push(...looseResult(result));
  }
  if (loose.length > 0) work.repaired.push({ role: 'user', content: loose });
}

/** Several providers take no conversation that the model opens. */
function openWithUser({ repaired, repairs }: Work): void {
  const first = repaired.findIndex(({ role }) => role !== 'system');
  if (repaired[first]?.role !== 'assistant') return;
  repairs.push('messages[0]: the conversation did not begin with the user, so a note was put before it.');
  repaired.splice(first, 0, { role: 'user', content: missingOpening });
}

function say({ repairs }: Work, index: number, what: string): void {
  repairs.push(`messages[${index}]: ${what}.`);
}

function nameSlot({ call }: Slot): string {
  return `the call ${showName(call.callId)} of tool ${showName(call.name)}`;
}
