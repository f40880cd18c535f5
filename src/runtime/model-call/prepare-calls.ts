import { callText } from '../../agent/approval/call-hash.ts';
import { callWarning } from '../../agent/approval/call-warning.ts';
import type { Provenance } from '../../agent/approval/provenance.ts';
import type { ReadyCall } from '../../agent/state.ts';
import type { PreparedCall } from '../../agent/tools/tool-call.ts';
import { fingerprint, hashText } from '../../base/hash.ts';
import { deepFreeze } from '../../base/plain-copy.ts';
import type { Json } from '../../base/json.ts';
import { levelOf } from '../../model/confinement.ts';
import type { ToolCallPart } from '../../model/message.ts';
import type { InputCheck, Permission, Tool } from '../../model/tool.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';
import { toToolName } from '../../model/tool-name.ts';
import { distinctCallIds } from './distinct-call-ids.ts';
import {
  describeUnreadable,
  refuseArguments,
  refuseDenied,
  refuseSurplus,
  refuseTooLong,
  refuseUnknown,
  refuseUnreadable,
  refuseWithdrawn,
} from '../tool-call/refuse-call.ts';
import { repairArguments } from './repair-arguments.ts';
import type { ToolRegistry } from '../tool-call/tool-registry.ts';

// Invariants: nothing runs here; each call gets one entry, in order; `{}` is never invented; what the model wrote reaches no
// tool but through its schema; a repaired call of a `once` tool is ready only if a person is asked.

/** What a turn's calls are held against. */
export interface PrepareOptions {
  readonly registry: ToolRegistry;
  readonly decidePermission: (
    tool: Tool,
    input: Json,
  ) => { readonly permission: Permission; readonly why?: string };
  /** Tools that are not there for now, and why. */
  readonly withdrawn: ReadonlyMap<string, string>;
  readonly maxCallsPerTurn: number;
  /** What the run may still call. */
  readonly callsLeft: number;
  /** The ids of the run's calls so far; those of these calls are added. */
  readonly takenIds?: Set<string>;
  /** Where the run came from, if it did: the calls are marked as proposed here. */
  readonly provenance?: Provenance | undefined;
}

/** The longest text of arguments that is looked at, in characters. */
const maxArgumentsCharacters = 1_000_000;

/**
 * Looks at the calls of one answer before anything runs: are the tools there, can the arguments be read, do they fit, may they
 * run. Synchronous unless a schema is not. Every call has an id of its own: see `distinctCallIds`.
 */
export function prepareCalls(
  calls: readonly ToolCallPart[],
  options: PrepareOptions,
): readonly PreparedCall[] | Promise<readonly PreparedCall[]> {
  const { maxCallsPerTurn, takenIds = new Set() } = options;
  const distinct = distinctCallIds(calls, takenIds);
  const looked = distinct.length > maxCallsPerTurn ? distinct.slice(0, maxCallsPerTurn) : distinct;
  const rest = distinct.length > maxCallsPerTurn ? distinct.slice(maxCallsPerTurn) : none;
  const prepared: (PreparedCall | Promise<PreparedCall>)[] = [];
  let isAsync = false;
  for (const call of looked) {
    const one = prepareCall(call, options);
    if (one instanceof Promise) isAsync = true;
    prepared.push(one);
  }
  const bound = (ready: readonly PreparedCall[]): readonly PreparedCall[] => [
    ...boundCalls(ready, options.callsLeft),
    ...refuseSurplus(rest.map(named), `one answer may call at most ${maxCallsPerTurn} tools`),
  ];
  if (isAsync) return Promise.all(prepared.map((one) => Promise.resolve(one))).then(bound);
  const ready = prepared as readonly PreparedCall[]; // None of them is a promise.
  return rest.length === 0 && ready.length <= options.callsLeft ? ready : bound(ready);
}

const none: readonly ToolCallPart[] = [];

/** By a name that every provider takes: the one that the model wrote may be anything. */
function named({ callId, name }: ToolCallPart): { readonly callId: string; readonly name: string } {
  return { callId, name: toToolName(name) };
}

/** Only calls that would run use up what is left. */
function boundCalls(prepared: readonly PreparedCall[], callsLeft: number): readonly PreparedCall[] {
  let left = callsLeft;
  const surplus = prepared.filter((call) => {
    if (call.type === 'refused') return false;
    left -= 1;
    return left < 0;
  });
  if (surplus.length === 0) return prepared;
  const refused = refuseSurplus(surplus, 'the run has used up its tool calls');
  const bySurplus = new Map(surplus.map((call, index) => [call, refused[index] ?? call]));
  return prepared.map((call) => bySurplus.get(call) ?? call);
}

function prepareCall(call: ToolCallPart, options: PrepareOptions): PreparedCall | Promise<PreparedCall> {
  const { name, argumentsText } = call;
  const { registry, withdrawn } = options;
  const tool = registry.get(name);
  if (tool === undefined) return refuseUnknown(named(call), registry, name);
  const why = withdrawn.get(name);
  if (why !== undefined) return refuseWithdrawn(call, why);
  if (argumentsText.length > maxArgumentsCharacters) return refuseTooLong(call, maxArgumentsCharacters);
  const read = parseToolArguments(argumentsText);
  if (read.type === 'parsed') return checkInput({ call, tool, options, input: read.value });
  if (read.type === 'empty') return checkInput({ call, tool, options, input: {}, isEmpty: true });
  const repaired = read.isInexact === true ? undefined : repairArguments(argumentsText);
  if (repaired === undefined) return refuseUnreadable(call, describeUnreadable(argumentsText, read.reason));
  return checkInput({ call, tool, options, input: repaired.value, unreadable: read.reason });
}

interface Reading {
  readonly call: ToolCallPart;
  readonly tool: Tool;
  readonly options: PrepareOptions;
  readonly input: Json;
  /** The model wrote nothing; whether that means `{}` the schema says. */
  readonly isEmpty?: true;
  /** Why the text as it stands was no JSON, where it was repaired. */
  readonly unreadable?: string;
}

function checkInput(reading: Reading): PreparedCall | Promise<PreparedCall> {
  const check = reading.tool.parse(reading.input);
  if (check instanceof Promise) return check.then((settled) => decide(reading, settled));
  return decide(reading, check);
}

function decide(reading: Reading, check: InputCheck): PreparedCall {
  const { call, tool, options, input, unreadable } = reading;
  if (check.type === 'invalid') return refuseArguments(call, check, reading.isEmpty === true);
  const { permission, why } = options.decidePermission(tool, input);
  if (permission === 'deny') return refuseDenied(call, why);
  if (unreadable !== undefined && tool.effect === 'once' && permission !== 'ask') {
    return refuseUnreadable(call, describeUnreadable(call.argumentsText, unreadable));
  }
  const { repeats, onError } = tool;
  const text = callText({ name: call.name, input, level: levelOf(tool) });
  const ready: { -readonly [Key in keyof ReadyCall]: ReadyCall[Key] } = {
    callId: call.callId,
    name: call.name,
    type: 'ready',
    // Hooks, listeners and outcomes are handed it; what runs must be what was looked at.
    input: deepFreeze(input),
    effect: tool.effect,
    permission,
    // An answer of a person is bound to it; where no person is ever asked, it only says whether two calls are the same.
    hash: permission === 'ask' || tool.effect === 'once' ? hashText(text) : fingerprint(text),
  };
  if (permission === 'ask' && why !== undefined) ready.why = why;
  // A person who is asked about its permission or its effect sees this.
  const warning = permission === 'ask' || tool.effect === 'once' ? callWarning(call.name, input) : undefined;
  if (warning !== undefined) ready.warning = warning;
  if (unreadable !== undefined) ready.isRepaired = true;
  if (options.provenance !== undefined) ready.provenance = options.provenance;
  if (repeats !== undefined) ready.repeats = repeats;
  if (onError !== undefined) ready.onError = onError;
  return ready;
}
