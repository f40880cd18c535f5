import { unreachable } from '../../../base/assert.ts';
import { parseGlob } from './glob-syntax.ts';
import type { GlobNode, GlobProblem } from './glob-syntax.ts';

/** A pattern for paths, ready to be asked; or what is wrong with it, and where. */
export type Glob = { readonly type: 'glob'; readonly matches: (path: string) => boolean } | GlobProblem;

/**
 * Makes a matcher for paths with `/` between their parts: `*` any characters of one name, `?` one of them, `[a-z]` and `[!a-z]` one
 * of or outside a range, `**` any number of folders, `{a,b}` either, `\` before a sign that stands for itself.
 *
 * All states that a pattern can be in are followed at once, so that a path takes at most its length times that of the pattern:
 * there is nothing to go back to, whatever the model wrote.
 *
 * @example compileGlob('src/**' + '/*.{ts,tsx}')
 */
export function compileGlob(pattern: string, options: { readonly braces?: boolean } = {}): Glob {
  const parsed = parseGlob(pattern, { braces: options.braces ?? true });
  if (parsed.type === 'invalid') return parsed;
  const literal = literalOf(parsed.nodes);
  if (literal !== undefined) return { type: 'glob', matches: (path) => path === literal };
  const states: State[] = [{ type: 'end' }];
  const start = addNodes(states, parsed.nodes, 0);
  const run: Run = {
    states,
    start,
    seen: new Int32Array(states.length),
    generation: 0,
    current: [],
    next: [],
  };
  return { type: 'glob', matches: (path) => follow(run, path) };
}

/** The same for the name alone, whatever folder it lies in. */
export function matchesName(glob: Extract<Glob, { type: 'glob' }>): (path: string) => boolean {
  return (path) => glob.matches(path.slice(path.lastIndexOf('/') + 1));
}

/** The text of a pattern in which nothing stands for anything else. */
function literalOf(nodes: readonly GlobNode[]): string | undefined {
  const characters = nodes.flatMap((node) => (node.type === 'literal' ? [node.character] : []));
  return characters.length === nodes.length ? String.fromCodePoint(...characters) : undefined;
}

/** One state of the machine. Those that take a character go on to `next`. */
type State =
  | { readonly type: 'end' }
  | { readonly type: 'take'; readonly fits: (character: number) => boolean; next: number }
  | { readonly type: 'either'; first: number; second: number };

const slash = 47;
const isInName = (character: number): boolean => character !== slash;
const isSlash = (character: number): boolean => character === slash;
const isAny = (): boolean => true;

/** From the end to the beginning, for each state must know the one behind it. */
function addNodes(states: State[], nodes: readonly GlobNode[], end: number): number {
  return nodes.reduceRight((next, node) => addNode(states, node, next), end);
}

function addNode(states: State[], node: GlobNode, next: number): number {
  switch (node.type) {
    case 'literal':
      return addTaker(states, (character) => character === node.character, next);
    case 'one':
      return addTaker(states, isInName, next);
    case 'set':
      return addTaker(states, fitsSet(node), next);
    case 'star':
      return addLoop(states, isInName, next);
    case 'rest':
      return addLoop(states, isAny, next);
    case 'folders': {
      const folders = addLoop(states, isAny, addTaker(states, isSlash, next));
      return add(states, { type: 'either', first: next, second: folders });
    }
    case 'choice':
      return node.branches
        .map((branch) => addNodes(states, branch, next))
        .reduce((first, second) => add(states, { type: 'either', first, second }));
    default:
      return unreachable(node);
  }
}

function add(states: State[], state: State): number {
  states.push(state);
  return states.length - 1;
}

function addTaker(states: State[], fits: (character: number) => boolean, next: number): number {
  return add(states, { type: 'take', fits, next });
}

/** As many as there are, and none as well. */
function addLoop(states: State[], fits: (character: number) => boolean, next: number): number {
  const taker = { type: 'take' as const, fits, next: 0 };
  const inside = add(states, taker);
  const again = add(states, { type: 'either', first: next, second: inside });
  taker.next = again;
  return again;
}

function fitsSet({ ranges, isNegated }: Extract<GlobNode, { type: 'set' }>): (character: number) => boolean {
  return (character) =>
    character !== slash && ranges.some(({ from, to }) => character >= from && character <= to) !== isNegated;
}

/** What following needs, kept between paths so that nothing is made for each of them. */
interface Run {
  readonly states: readonly State[];
  readonly start: number;
  /** The generation in which a state was last entered. */
  readonly seen: Int32Array;
  generation: number;
  current: number[];
  next: number[];
}

function follow(run: Run, path: string): boolean {
  // Long before the number is too large for its place.
  if (run.generation > 2 ** 30) {
    run.seen.fill(0);
    run.generation = 0;
  }
  begin(run);
  enter(run, run.start);
  for (let index = 0; index < path.length && run.next.length > 0; index += 1) {
    const character = path.codePointAt(index) ?? 0;
    if (character > 0xffff) index += 1;
    begin(run);
    for (const id of run.current) {
      const state = run.states[id];
      if (state?.type === 'take' && state.fits(character)) enter(run, state.next);
    }
  }
  return run.next.includes(0);
}

/** What was entered is where we are, and nothing is entered yet. */
function begin(run: Run): void {
  const emptied = run.current;
  emptied.length = 0;
  run.current = run.next;
  run.next = emptied;
  run.generation += 1;
}

/** Enters a state and all that it leads to without a character, each once for a generation. */
function enter(run: Run, id: number): void {
  if (run.seen[id] === run.generation) return;
  run.seen[id] = run.generation;
  const state = run.states[id];
  if (state?.type !== 'either') {
    run.next.push(id);
    return;
  }
  enter(run, state.first);
  enter(run, state.second);
}
