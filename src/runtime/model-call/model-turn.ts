import { describeOutput } from '../../model/output-schema.ts';
import { continueMessage } from '../../agent/notes.ts';
import { startHistory } from '../../agent/turn/history.ts';
import type { Calling, RunState } from '../../agent/state.ts';
import type { Message } from '../../model/message.ts';
import type { Model, PartialResult } from '../../model/model.ts';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../../model/request.ts';
import { isTrustedCall } from '../../model/trusted-calls.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { CallTarget } from './call-target.ts';
import type { DeliveryEvent } from './delivery.ts';
import { createDelivery } from './delivery.ts';
import { createLentMessages, lendMessages, systemOf } from '../record/lent-messages.ts';
import type { LentMessages } from '../record/lent-messages.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import { createModelTarget } from './model-target.ts';
import { canBeRead } from './repair-answer.ts';

/** One call of a model with all of its attempts: what is asked, and of whom. */
export interface ModelTurn {
  readonly turn: number;
  /** A model of the chain, by its place. The same each time, so that a broken answer can be continued. */
  readonly targetOf: (index: number) => CallTarget<PartialResult>;
  /** Handed on from turn to turn. */
  readonly lent: LentMessages;
}

/** What hooks put in the place of what the run would ask. */
export interface RequestChanges {
  readonly messages?: readonly Message[] | undefined;
  readonly instructions?: string | undefined;
}

interface Asking {
  readonly calling: Calling;
  readonly signal: AbortSignal;
  readonly injected: readonly Message[];
  readonly changes: RequestChanges;
}

/** Writes a request once per call and model, when that model is first asked: every attempt asks the same. */
export function createModelTurn(parts: AgentParts, live: LiveRun, asking: Asking): ModelTurn {
  const { calling, signal } = asking;
  const { turn } = calling;
  const state = live.state as RunState; // A call is only begun by a run that has started.
  // Also where no caller watches: a late listener gets the text from its beginning.
  const delivery = createDelivery((event) => deliver(live, calling, event));
  const { models, registry, timeouts, clock } = parts;
  const hasTools = registry.names.length > 0;
  const lent = live.turn?.lent ?? createLentMessages();
  const targets: (CallTarget<PartialResult> | undefined)[] = [];
  const createTarget = (model: Model): CallTarget<PartialResult> =>
    createModelTarget(model, {
      request: requestOf(parts, { model, state, asking, lent }),
      timeouts,
      delivery,
      clock,
      signal,
      canBeRead: hasTools ? (partial) => canBeRead(partial, registry) : undefined,
    });
  return {
    turn,
    lent,
    targetOf: (index) => (targets[index] ??= createTarget(models[index] as Model)), // The machine names models that exist.
  };
}

function deliver(live: LiveRun, { turn, base }: Calling, event: { readonly type: string }): void {
  const piece = event as DeliveryEvent;
  if (piece.type === 'text-delta') publish(live, { type: 'text-delta', turn, text: piece.text });
  else if (piece.type === 'text-retracted')
    publish(live, { type: 'text-retracted', turn, keep: base.length + piece.keep });
  else if (piece.type === 'reasoning-delta')
    publish(live, { type: 'reasoning-delta', turn, text: piece.text });
  else if (piece.type === 'tool-call-started' || piece.type === 'tool-call-delta')
    publish(live, { ...piece, turn });
}

/** What is sent, in order. */
function writeMessages({ model, state, asking, lent }: Writing, instructions: string): readonly Message[] {
  const { calling, injected, changes } = asking;
  const isPlain = changes.messages === undefined && injected.length === 0 && calling.base === '';
  if (isPlain) {
    const list = lendMessages(lent, state.history, instructions);
    // A model that may keep the request gets its own copy.
    return isTrustedCall(model.call) ? list : list.slice();
  }
  const { settled, recent } = changes.messages === undefined ? state.history : startHistory(changes.messages);
  const cutOff: readonly Message[] =
    calling.base === '' ? [] : [{ role: 'assistant', content: calling.base }, continueMessage];
  // Not by spreading: engines copy a list element by element for that, and this one may be long.
  return systemOf(instructions).concat(settled, recent, injected, cutOff);
}

interface Writing {
  readonly model: Model;
  readonly state: RunState;
  readonly asking: Asking;
  readonly lent: LentMessages;
}

function requestOf(parts: AgentParts, writing: Writing): ModelRequest {
  const { model, state, asking } = writing;
  const { output, registry, settings } = parts;
  const { changes, calling } = asking;
  const isNative = output !== undefined && asksNatively(model, registry.names.length > 0);
  const told = output !== undefined && !isNative ? describeOutput(output.json) : '';
  const instructions = joinParagraphs(changes.instructions ?? parts.instructions, told);
  // A list of its own and no getter: see `onDemand` in tool-context.ts for what a getter in a literal costs.
  const request: { -readonly [Key in keyof ModelRequest]: ModelRequest[Key] } = {
    ...settings,
    messages: writeMessages(writing, instructions),
  };
  if (registry.names.length > 0) {
    const left = registry.without(withdrawnNames(state));
    // Providers want the tools of a conversation declared, also where none may be called any more.
    const isFree = calling.salvage === undefined && left.length > 0;
    request.tools = left.length > 0 ? left : registry.definitions;
    const choice = isFree ? choiceAmong(left, state) : 'none';
    if (choice !== undefined) request.toolChoice = choice;
  }
  if (isNative) request.output = { name: 'answer', schema: output.json };
  return request;
}

/** What the run was begun with, as long as it counts. A tool that was withdrawn meanwhile cannot be forced. */
function choiceAmong(left: readonly ToolDefinition[], { toolChoice }: RunState): ToolChoice | undefined {
  if (typeof toolChoice !== 'object') return toolChoice;
  return left.some(({ name }) => name === toolChoice.name) ? toolChoice : undefined;
}

function joinParagraphs(first: string, second: string): string {
  if (second === '') return first;
  return first === '' ? second : `${first}\n\n${second}`;
}

/** Whether the provider itself holds the answer to the schema. */
export function asksNatively({ capabilities }: Model, hasTools: boolean): boolean {
  if (capabilities.structuredOutput !== 'native') return false;
  return !hasTools || capabilities.outputBesideTools !== false;
}

const nothing: ReadonlySet<string> = new Set();

/** Tools that the model does not get for now. */
export function withdrawnNames({ withdrawn }: RunState): ReadonlySet<string> {
  const names = Object.keys(withdrawn);
  return names.length === 0 ? nothing : new Set(names);
}
