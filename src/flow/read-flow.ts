import { visible } from '../base/printable.ts';
import { boundText } from '../base/text.ts';
import type { RerailError } from '../errors/rerail-error.ts';
import { flowError } from './flow-error.ts';
import { showPlace } from './flow-place.ts';
import { divide, joinShapes, maxFlowDepth, maxFlowNodes, nodeName, nodeNameRule } from './flow-shape.ts';
import type { FlowShape } from './flow-types.ts';

const maxFlowCharacters = 10_000;

/**
 * Reads a flow: `>>` is one after the other, `|` is side by side, parentheses group, blanks and line breaks are free. Neither
 * sign binds tighter: where both stand side by side, parentheses must say what is meant. Throws a `FlowError` that shows the
 * place. Takes time linear in the text.
 *
 * @example readFlow('triage >> (research | pricing) >> writer');
 */
export function readFlow(text: string): FlowShape {
  if (typeof text !== 'string') throw flowError(`A flow must be a text here, got ${typeof text}`);
  if (text.length > maxFlowCharacters)
    throw flowError(
      `The flow has ${text.length} characters; at most ${maxFlowCharacters} are read: ${divide}`,
    );
  const reader: Reader = { text, token: nextToken(text, 0), taken: undefined, depth: 0, nodes: 0 };
  if (reader.token.type === 'end')
    throw flowError('The flow is empty: name at least one node', { hint: 'Such as "research >> writer".' });
  return readWhole(reader);
}

interface Reader {
  readonly text: string;
  /** The next one, not yet taken. */
  token: Token;
  taken: Token | undefined;
  depth: number;
  nodes: number;
}

interface Token {
  readonly type: 'name' | '>>' | '|' | '(' | ')' | 'end' | 'other';
  readonly text: string;
  readonly at: number;
}

// What follows a blank begins with no blank, so that the pattern never goes back over what it has read.
const tokens = /\s*(?:([A-Za-z][\w-]*)|(>>|[|()])|(-+>|=+>|&+|\S))?/uy;

function nextToken(text: string, from: number): Token {
  tokens.lastIndex = from;
  const [whole = '', name, sign, other] = tokens.exec(text) ?? [];
  const found = name ?? sign ?? other ?? '';
  const at = from + whole.length - found.length;
  if (name !== undefined) return { type: 'name', text: name, at };
  if (sign !== undefined) return { type: sign as '>>' | '|' | '(' | ')', text: sign, at }; // As the pattern says.
  return { type: other === undefined ? 'end' : 'other', text: found, at };
}

function take(reader: Reader): Token {
  const { text, token } = reader;
  reader.taken = token;
  reader.token = nextToken(text, token.at + token.text.length);
  return token;
}

function readWhole(reader: Reader): FlowShape {
  const shape = readGroup(reader);
  if (reader.token.type !== 'end') throw unexpected(reader, '">>", "|" or the end');
  return shape;
}

/** Items with signs of one kind between them. */
function readGroup(reader: Reader): FlowShape {
  const groupAt = reader.token.at;
  const items = [readItem(reader)];
  const sign = reader.token;
  if (!isSign(sign)) return joinShapes('sequence', items);
  let itemAt = sign.at;
  while (reader.token.type === sign.type) {
    take(reader);
    itemAt = reader.token.at;
    items.push(readItem(reader));
  }
  if (isSign(reader.token)) throw mixed(reader, { sign, groupAt, itemAt });
  return joinShapes(sign.type === '>>' ? 'sequence' : 'parallel', items);
}

function isSign({ type }: Token): boolean {
  return type === '>>' || type === '|';
}

function readItem(reader: Reader): FlowShape {
  const { token } = reader;
  if (token.type === 'name') return readName(reader);
  if (token.type !== '(') throw unexpected(reader, 'a name or "("');
  take(reader);
  reader.depth += 1;
  if (reader.depth > maxFlowDepth)
    throw errorAt(reader, {
      at: token.at,
      problem: `parentheses are nested more than ${maxFlowDepth} deep: ${divide}`,
    });
  const shape = readGroup(reader);
  if (reader.token.type !== ')') {
    const { place } = showPlace(reader.text, token.at);
    throw unexpected(reader, `">>", "|" or the ")" that closes the "(" at ${place}`);
  }
  take(reader);
  reader.depth -= 1;
  return shape;
}

function readName(reader: Reader): FlowShape {
  const { text: name, at } = take(reader);
  reader.nodes += 1;
  if (reader.nodes > maxFlowNodes)
    throw errorAt(reader, { at, problem: `there are more than ${maxFlowNodes} nodes: ${divide}` });
  if (!nodeName.test(name))
    throw errorAt(reader, { at, problem: `this name is ${name.length} characters long; ${nodeNameRule}` });
  return { type: 'node', name, at };
}

interface Problem {
  readonly at: number;
  readonly problem: string;
  readonly hint?: string | undefined;
}

function errorAt({ text }: Reader, { at, problem, hint }: Problem): RerailError {
  const { place, picture } = showPlace(text, at);
  return flowError(`Cannot read the flow at ${place}: ${problem}\n${picture}`, { hint, context: { at } });
}

function unexpected(reader: Reader, expected: string): RerailError {
  const { token } = reader;
  const found = token.type === 'end' ? 'the flow ends here' : `found "${visible(token.text).slice(0, 70)}"`;
  return errorAt(reader, {
    at: token.at,
    problem: `expected ${expected}, but ${found}`,
    hint: hintFor(reader),
  });
}

/** What people write who come from another notation. */
const mistakes: readonly { readonly pattern: RegExp; readonly hint: string }[] = [
  { pattern: /^(?:-+>|=+>|>|→|;)$/u, hint: 'One after the other is written ">>".' },
  { pattern: /^(?:&+|,|\+|\/)$/, hint: 'Side by side is written "|".' },
  { pattern: /^["'`“”]$/u, hint: 'Names are written without quotation marks.' },
  {
    pattern: /^[\d_\p{L}-]$/u,
    hint: 'A name begins with one of the letters A to Z or a to z, and continues with these, digits, "_" and "-".',
  },
];

function hintFor({ token, taken }: Reader): string | undefined {
  if (token.type === ')') return 'It closes nothing; remove it.';
  if (token.type === 'name' || token.type === '(') {
    const before = taken === undefined ? '' : ` between "${taken.text}" and "${token.text}"`;
    return `Put ">>" (one after the other) or "|" (side by side)${before}.`;
  }
  return token.type === 'other' ? mistakes.find(({ pattern }) => pattern.test(token.text))?.hint : undefined;
}

interface Mix {
  readonly sign: Token;
  readonly groupAt: number;
  /** Where the last item before the second sign begins. */
  readonly itemAt: number;
}

function mixed(reader: Reader, { sign, groupAt, itemAt }: Mix): RerailError {
  const { text, token } = reader;
  const group = excerpt(text.slice(groupAt, token.at));
  const item = excerpt(text.slice(itemAt, token.at));
  return errorAt(reader, {
    at: token.at,
    problem: `"${token.text}" after "${sign.text}" is ambiguous without parentheses`,
    hint: `Write "… ${sign.text} (${item} ${token.text} …)", or "(${group}) ${token.text} …".`,
  });
}

function excerpt(text: string): string {
  return visible(boundText(text.replaceAll(/\s+/g, ' ').trim(), 80));
}
