import type { Token } from './tokens.ts';

/** A function of a program, as far as a quick look shows it. */
export interface FoundFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly isAsync: boolean;
  /** Its tokens, from its name to the end of its body: the places in the list. */
  readonly first: number;
  readonly last: number;
  /** Where its body begins. */
  readonly body: number;
  /** Whether the body is a block, and not one expression. */
  readonly hasBlock: boolean;
}

const maxFunctions = 500;
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const notNames: ReadonlySet<string> = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'return',
  'function',
  'await',
]);

/** Finds functions, methods and arrows that have a name. */
export function findFunctions(tokens: readonly Token[]): readonly FoundFunction[] {
  const found: FoundFunction[] = [];
  for (let place = 0; place < tokens.length && found.length < maxFunctions; place += 1) {
    const named = functionAt(tokens, place);
    if (named !== undefined) found.push(named);
  }
  return found;
}

/** Where the bracket that opens here is closed; the last token where it never is. */
export function closeOf(tokens: readonly Token[], open: number): number {
  const opening = tokens[open]?.text ?? '';
  const close = closing[opening];
  let depth = 0;
  for (let place = open; place < tokens.length; place += 1) {
    const { text = '', type } = tokens[place] ?? {};
    if (type !== 'sign') continue;
    if (text === opening) depth += 1;
    if (text === close) depth -= 1;
    if (depth === 0) return place;
  }
  return tokens.length - 1;
}

function functionAt(tokens: readonly Token[], place: number): FoundFunction | undefined {
  const token = tokens[place];
  const text = (step: number): string => tokens[place + step]?.text ?? '';
  if (token?.type !== 'word' || notNames.has(token.text)) return undefined;
  const isAsync = text(-2) === 'async' || text(-1) === 'async';
  if (text(-1) === 'function' && text(1) === '(') return build(tokens, { place, open: place + 1, isAsync });
  if (text(1) === '=' || text(1) === ':') {
    const isAsyncValue = text(2) === 'async';
    const value = place + (isAsyncValue ? 3 : 2);
    if (tokens[value]?.text === 'function') {
      const open = tokens[value + 1]?.text === '(' ? value + 1 : value + 2;
      return build(tokens, { place, open, isAsync: isAsyncValue });
    }
    return arrow(tokens, { place, open: value, isAsync: isAsyncValue });
  }
  // A method: a name, parameters and a block, where a statement could begin.
  if (text(1) === '(' && /^(?:[{},;]|async|static|get|set|\*)?$/.test(text(-1))) {
    return build(tokens, { place, open: place + 1, isAsync });
  }
  return undefined;
}

interface Opening {
  readonly place: number;
  /** Where the parameters begin. */
  readonly open: number;
  readonly isAsync: boolean;
}

function build(tokens: readonly Token[], { place, open, isAsync }: Opening): FoundFunction | undefined {
  if (tokens[open]?.text !== '(') return undefined;
  const close = closeOf(tokens, open);
  const block = skipType(tokens, close + 1, '{');
  if (tokens[block]?.text !== '{') return undefined;
  return {
    name: tokens[place]?.text ?? '',
    parameters: namesIn(tokens.slice(open + 1, close)),
    isAsync,
    first: place,
    last: closeOf(tokens, block),
    body: block,
    hasBlock: true,
  };
}

function arrow(tokens: readonly Token[], { place, open, isAsync }: Opening): FoundFunction | undefined {
  const hasList = tokens[open]?.text === '(';
  const close = hasList ? closeOf(tokens, open) : open;
  const sign = hasList ? skipType(tokens, close + 1, '=>') : close + 1;
  if (tokens[sign]?.text !== '=>') return undefined;
  const body = sign + 1;
  const hasBlock = tokens[body]?.text === '{';
  return {
    name: tokens[place]?.text ?? '',
    parameters: namesIn(hasList ? tokens.slice(open + 1, close) : tokens.slice(open, close + 1)),
    isAsync,
    first: place,
    last: hasBlock ? closeOf(tokens, body) : endOfExpression(tokens, body),
    body,
    hasBlock,
  };
}

/** Over a type that may stand between the parameters and the body. */
function skipType(tokens: readonly Token[], place: number, wanted: string): number {
  if (tokens[place]?.text !== ':') return place;
  const most = Math.min(tokens.length, place + 40);
  for (let step = place + 1; step < most; step += 1) if (tokens[step]?.text === wanted) return step;
  return place;
}

function endOfExpression(tokens: readonly Token[], start: number): number {
  for (let place = start; place < tokens.length; place += 1) {
    const { text = '', type } = tokens[place] ?? {};
    if (type !== 'sign') continue;
    if (Object.hasOwn(closing, text)) place = closeOf(tokens, place);
    else if (/^[;,)\]}]$/.test(text)) return place - 1;
  }
  return tokens.length - 1;
}

function namesIn(tokens: readonly Token[]): readonly string[] {
  return tokens
    .filter(({ type, text }, place) => {
      const before = tokens[place - 1]?.text ?? ',';
      return type === 'word' && /^(?:,|\{|\[|\.\.\.)$/.test(before) && text !== 'this';
    })
    .map(({ text }) => text);
}
