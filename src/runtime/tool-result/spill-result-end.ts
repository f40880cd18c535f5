import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { defined } from '../../base/defined.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { BlobStore } from '../../model/store/store.ts';
import { cutText } from '../watch/bounded-text.ts';
import { planSpill, readResultName } from './spill-result.ts';

export interface SpillOptions {
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly runId: string;
  /** The longest text that the model is shown of this tool. */
  readonly maxCharacters: number;
}

/** An end within its bound, and what kept the store from keeping the rest. */
export interface SpilledEnd {
  readonly end: ToolEnd;
  readonly failure?: Failure;
}

/**
 * Brings the end of a call within its bound: what is too long is kept by the store and read back by `read_result`. Where the store
 * cannot keep it, head and tail are shown as ever, and the failure is reported. Never rejects.
 */
export async function spillEnd(end: ToolEnd, options: SpillOptions): Promise<SpilledEnd> {
  if (end.type !== 'ok' || end.name === readResultName) return { end };
  const spilling: Spilling = { options, left: options.maxCharacters, total: 0, failure: undefined };
  if (typeof end.content === 'string') {
    if (end.content.length <= options.maxCharacters) return { end };
    const content = await spillText(end.content, spilling);
    return spilledEnd(end, content, spilling);
  }
  const parts: (typeof end.content)[number][] = [];
  // One after the other: each text has the room that those before it have left.
  for (const part of end.content) {
    parts.push(part.type === 'text' ? { ...part, text: await spillText(part.text, spilling) } : part);
  }
  return spilling.total > options.maxCharacters ? spilledEnd(end, parts, spilling) : { end };
}

interface Spilling {
  readonly options: SpillOptions;
  left: number;
  /** Characters before anything was shortened. */
  total: number;
  failure: Failure | undefined;
}

function spilledEnd(end: ToolEnd, content: ToolEnd['content'], { total, failure }: Spilling): SpilledEnd {
  const totalCharacters = end.totalCharacters ?? total;
  return defined({ end: { ...end, content, totalCharacters }, failure });
}

async function spillText(text: string, spilling: Spilling): Promise<string> {
  const shown = await shorten(text, spilling);
  spilling.total += text.length;
  spilling.left = Math.max(0, spilling.left - shown.length);
  return shown;
}

async function shorten(text: string, spilling: Spilling): Promise<string> {
  const { options, left } = spilling;
  const plan = planSpill(text, { maxCharacters: left });
  if (plan === undefined) return cutText(text, left).text;
  try {
    return plan.contentFor(await options.blobs.put(plan.spilled, options.runId));
  } catch (thrown) {
    spilling.failure = classifyFailure(thrown, 'storage');
    return cutText(text, left).text;
  }
}
