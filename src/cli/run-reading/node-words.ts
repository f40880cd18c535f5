import { duration } from '../../base/duration.ts';
import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import type { Style } from '../text/paint.ts';
import type { ReadNode } from './read-nodes.ts';
import type { ItemOf, ToolBody } from './run-reading.ts';
import type { Words } from './run-words.ts';

const maxQuote = 120;

/** What a flow or a plan decided. */
export function conductWords({ calls, failure }: ItemOf<'conduct'>): Words {
  if (failure !== undefined)
    return { text: `It was decided to end the run: ${failure.code}`, style: 'failure' };
  if (calls.length === 0) return { text: 'It was decided that this is the answer.' };
  const many = calls.length === 1 ? '' : ', side by side';
  return { text: `Now: ${calls.slice(0, maxNames).map(printable).join(', ')}${many}` };
}

const maxNames = 20;

/** How a node ended. `why` is of its failure. */
export function nodeEndWords(item: ToolBody, why: string): Words {
  const { tool, end, durationMs, attempt, node = {}, text } = item;
  const { skipped, handOff } = node;
  const nth = attempt > 1 ? `, attempt ${attempt}` : '';
  const name = `Node ${printable(tool)}`;
  if (skipped !== undefined) return { text: `${name} was skipped: ${printable(skipped)}` };
  const run = runText(node.runId);
  if (end === 'ok') {
    if (handOff !== undefined)
      return {
        text: `${name} passed the conversation on to ${printable(handOff.to)} after ${duration(durationMs)}${nth}${run}: ${printable(handOff.reason)}`,
      };
    const said = text === '' ? '' : `: “${printable(boundText(text, maxQuote))}”`;
    return { text: `${name} ended well after ${duration(durationMs)}${nth}${run}${said}` };
  }
  const how = end === 'denied' ? 'was not done' : 'failed';
  return { text: `${name} ${how} after ${duration(durationMs)}${nth}${run}${why}`, style: 'failure' };
}

/** What a node waits for. */
export function nodeWaitWords({ node, runId }: ItemOf<'node-waits'>, what: string): Words {
  return { text: `Node ${printable(node)} waits ${what}${runText(runId)}`, style: 'recovery' };
}

function runText(runId: string | undefined): string {
  return runId === undefined ? '' : ` (run ${printable(runId)})`;
}

/** A node as it stands: what became of it, which run it is, and a word about it. */
export function nodeLine({ status, runId, about }: ReadNode): Words {
  const more = about === undefined || about === '' ? '' : `: ${printable(boundText(about, maxQuote))}`;
  const { text, style } = statuses[status];
  return { text: `${text}${runText(runId)}${more}`, ...(style === undefined ? {} : { style }) };
}

const statuses: Readonly<Record<ReadNode['status'], { readonly text: string; readonly style?: Style }>> = {
  succeeded: { text: 'succeeded' },
  failed: { text: 'failed', style: 'failure' },
  skipped: { text: 'skipped' },
  waiting: { text: 'waits', style: 'recovery' },
  cancelled: { text: 'cancelled' },
  'not-reached': { text: 'not reached' },
  begun: { text: 'begun', style: 'recovery' },
};
