/** What a run did, with what the runs below it did: for the agent that continues where its conversation is not shown. */
import { renderFailure } from '../errors/render-failure.ts';
import { countEffects, effectsIn, notePrefix, withoutOldest, writeEffects } from '../model/effects.ts';
import type { Effect } from '../model/effects.ts';
import type { Message, ToolResultPart } from '../model/message.ts';
import { recordIn } from './conducted.ts';
import type { CallRecord } from './conducted.ts';
import { isReadTool } from './tools/read-tools.ts';
import { unknownOutcome } from './tools/repair-texts.ts';
import { own } from './report/report-words.ts';
import type { RunState } from './state.ts';
import type { ToolEnd } from './tools/tool-call.ts';

type Configured = Pick<RunState, 'config'>;

/** The effects of a run's conversation. Of a flow, a hand-off or a plan those of its nodes, in the place of its own records. */
export function effectsOfRun(run: Configured, messages: readonly Message[]): readonly Effect[] {
  const isRead = (name: string): boolean => isReadTool(run, name);
  if (run.config.isConducted !== true) return effectsIn(messages, isRead);
  const below: Below = new Map();
  const others = messages.map((message) => withoutNodes(run, message, below));
  // What was handed on was noted there as well.
  const noted = countEffects(effectsIn(others, () => true));
  return [...effectsIn(others, isRead), ...listsOf([...below.values()], noted)];
}

interface DidBelow extends Pick<CallRecord, 'handed'> {
  readonly name: string;
  readonly note: Message;
}

/** By run, what it did. */
type Below = Map<string, DidBelow>;

function listsOf(below: readonly DidBelow[], noted: number): readonly Effect[] {
  return below.flatMap(({ note, handed }) =>
    withoutOldest(
      effectsIn([note], () => true),
      handed === undefined ? 0 : noted,
    ),
  );
}

/** What an agent below did before it failed. Its answer would have said so. */
export function didBeforeFailing(
  ends: readonly Pick<ToolEnd, 'type' | 'name' | 'child'>[],
): readonly Message[] {
  return ends.flatMap(({ type, name, child }) =>
    type === 'ok' || child?.effects === undefined
      ? []
      : [didNote(`The agent "${name}" ended without an answer. Its effects stay.`, child.effects)],
  );
}

/** What nodes of a flow did that ended without an answer, in other runs than this one; nothing where that was nothing. */
export function didInVain(
  run: Configured,
  messages: readonly Message[],
  { names, except }: { readonly names: ReadonlySet<string>; readonly except: string },
): readonly Message[] {
  const below: Below = new Map();
  const others = messages.map((message) => withoutNodes(run, message, below));
  const wanted = [...below].filter(([runId, { name }]) => names.has(name) && runId !== except);
  const did = wanted.map(([, each]) => each);
  const effects = writeEffects(listsOf(did, countEffects(effectsIn(others, () => true))));
  if (effects === '') return [];
  const quoted = [...new Set(did.map(({ name }) => `"${name}"`))].join(', ');
  const ended = `Before you, this was worked on without an answer by: ${quoted}. What was done then stays done.`;
  return [didNote(ended, effects)];
}

function didNote(text: string, effects: string): Message {
  return { role: 'user', content: `${notePrefix}${text}\n${effects}` };
}

/** Of calls of nodes nothing is left but what the runs did that they were; of other records what they say. */
function withoutNodes({ config }: Configured, message: Message, below: Below): Message {
  const isNode = (name: string): boolean => own(config.tools, name)?.isNode === true;
  if (message.role === 'assistant' && typeof message.content !== 'string') {
    const content = message.content.filter((part) => part.type !== 'tool-call' || !isNode(part.name));
    return { ...message, content };
  }
  if (message.role !== 'tool') return message;
  for (const { name, content } of message.content) {
    const { childId, effects, handed } = (isNode(name) ? recordIn(content) : undefined) ?? {};
    if (childId === undefined || effects === undefined) continue;
    if (handed === 'all') below.clear();
    below.set(childId, { name, note: didNote('', effects), handed });
  }
  return { ...message, content: message.content.filter(({ name }) => !isNode(name)).map(asTold) };
}

function asTold(result: ToolResultPart): ToolResultPart {
  const record = recordIn(result.content);
  if (record === undefined) return result;
  const { content, failure } = record;
  if (content !== undefined) return { ...result, content };
  return { ...result, content: failure === undefined ? unknownOutcome : renderFailure(failure, 'model') };
}
