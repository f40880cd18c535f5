import { unreachable } from '../../base/assert.ts';

const blanks = /[ \t\r\n]*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids them bare
const text = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;

/** Where a text stops being JSON: the index of the first character that cannot stand there, or its length where it just ends. */
export function findJsonFault(source: string): number {
  const held: Held = { source, index: 0, open: [] };
  let expected: Expected = 'value';
  while (expected !== 'fault') {
    take(held, blanks);
    if (expected === 'end' || held.index >= source.length) return held.index;
    expected = step(held, expected);
  }
  return held.index;
}

interface Held {
  readonly source: string;
  index: number;
  /** The brackets that are open. */
  readonly open: ('{' | '[')[];
}

type Expected =
  'value' | 'value-or-close' | 'name' | 'name-or-close' | 'colon' | 'comma-or-close' | 'end' | 'fault';

function take(held: Held, pattern: RegExp): boolean {
  pattern.lastIndex = held.index;
  const found = pattern.exec(held.source);
  if (found === null) return false;
  held.index += found[0].length;
  return true;
}

function step(held: Held, expected: Exclude<Expected, 'end' | 'fault'>): Expected {
  const character = held.source[held.index];
  const isClose = character === (held.open.at(-1) === '{' ? '}' : ']') && held.open.length > 0;
  switch (expected) {
    case 'value-or-close':
      return isClose ? close(held) : readValue(held);
    case 'value':
      return readValue(held);
    case 'name-or-close':
      return isClose ? close(held) : readName(held);
    case 'name':
      return readName(held);
    case 'colon':
      if (character !== ':') return 'fault';
      held.index += 1;
      return 'value';
    case 'comma-or-close':
      if (isClose) return close(held);
      if (character !== ',') return 'fault';
      held.index += 1;
      return held.open.at(-1) === '{' ? 'name' : 'value';
    default:
      return unreachable(expected);
  }
}

function close(held: Held): Expected {
  held.index += 1;
  held.open.pop();
  return afterValue(held);
}

function afterValue({ open }: Held): Expected {
  return open.length === 0 ? 'end' : 'comma-or-close';
}

function readName(held: Held): Expected {
  return take(held, text) ? 'colon' : 'fault';
}

function readValue(held: Held): Expected {
  const character = held.source[held.index];
  if (character === '{' || character === '[') {
    held.index += 1;
    held.open.push(character);
    return character === '{' ? 'name-or-close' : 'value-or-close';
  }
  return take(held, text) || take(held, scalar) ? afterValue(held) : 'fault';
}
