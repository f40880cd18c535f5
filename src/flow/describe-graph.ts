import { hashText } from '../base/hash.ts';
import { fallbackOf, optionsOf } from './flow-fallbacks.ts';
import type { FlowParts } from './flow-results.ts';
import type { FlowGraphNode } from './flow-types.ts';

/** What a flow goes by, in words: it is kept with every run, and reported where it was changed since. */
export function describeGraph(parts: FlowParts): string {
  const text = parts.graph.nodes.map((node) => describeNode(parts, node)).join('; ');
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${hashText(text).slice(0, 8)})`;
}

const maxLength = 500;

function describeNode({ options }: FlowParts, { name, before, isFallbackOf }: FlowGraphNode): string {
  if (isFallbackOf !== undefined) return `${name} in place of ${isFallbackOf.join(', ')}`;
  const own = optionsOf(options, name);
  const place = before.length === 0 ? name : `${name} after ${before.join(', ')}`;
  const isChosen = own?.when === undefined ? '' : ', under a condition';
  const canFail = own?.onError === 'skip' || fallbackOf(own) !== undefined ? ', may fail' : '';
  return `${place}${isChosen}${canFail}`;
}
