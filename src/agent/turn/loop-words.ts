import { unreachable } from '../../base/assert.ts';
import { showName } from '../../model/check/show-value.ts';

/** Says in a sentence what goes round, for the caller that reads the journal and for the model alike. */
export function describeLoop(loop: {
  readonly pattern: 'repeat' | 'ping-pong' | 'no-progress';
  readonly tools: readonly string[];
  readonly count: number;
  /** It went on after the tools had been withdrawn. */
  readonly isWithdrawn: boolean;
}): string {
  return sentence(loop) + (loop.isWithdrawn ? ', and it went on after it was withdrawn' : '');
}

function sentence({ pattern, tools, count }: Parameters<typeof describeLoop>[0]): string {
  switch (pattern) {
    case 'repeat':
      return `The tool ${listNames(tools)} was called ${count} times with the same arguments and gave the same result`;
    case 'ping-pong':
      return `The same calls of ${listNames(tools)} were made in turn ${count} times over, with the same results`;
    case 'no-progress':
      return `The tool ${listNames(tools)} was called ${count} times with one argument or another and found or did nothing`;
    default:
      return unreachable(pattern);
  }
}

function listNames(names: readonly string[]): string {
  const shown = names.map(showName);
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
