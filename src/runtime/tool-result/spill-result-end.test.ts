import { describe, expect, it } from 'vitest';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { hashText } from '../../base/hash.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { spillEnd } from './spill-result-end.ts';
import type { SpillOptions } from './spill-result-end.ts';

const long = `HEAD${'x'.repeat(5000)}TAIL`;

function endOf(content: ToolEnd['content'], rest: Partial<ToolEnd> = {}): ToolEnd {
  return { callId: 'c', name: 'search', type: 'ok', content, resultHash: 'h', durationMs: 1, ...rest };
}

interface Kept {
  readonly options: SpillOptions;
  readonly kept: (readonly [content: string, runId: string])[];
}

function keeper(maxCharacters = 2000): Kept {
  const kept: (readonly [string, string])[] = [];
  const put = (content: string, runId: string): Promise<string> => {
    kept.push([content, runId]);
    return Promise.resolve(hashText(content));
  };
  return { kept, options: { blobs: { put }, runId: 'run-1', maxCharacters } };
}

describe('spillEnd()', () => {
  it('shows head and tail as ever when the store cannot keep the rest, and tells why', async () => {
    const full = createFailure('STORAGE_FULL', { origin: 'storage', message: 'no room on the disk' });
    const put = (): Promise<never> => Promise.reject(RerailError.from(full));
    const spilled = await spillEnd(endOf(long), { ...keeper().options, blobs: { put } });
    expect(spilled.failure).toMatchObject({ code: 'STORAGE_FULL' });
    expect(spilled.end.content).toMatch(/^HEADx+\n… \[[\d,]+ of 5,008 characters left out\] …\nx+TAIL$/);
    expect(spilled.end.totalCharacters).toBe(5008);
  });

  it.each([
    { what: 'what is short enough', end: endOf('x'.repeat(2000)) },
    { what: 'short parts', end: endOf([{ type: 'text', text: 'short' }]) },
    { what: 'a failure', end: endOf(long, { type: 'failed' }) },
    { what: 'what read_result gives', end: endOf(long, { name: 'read_result' }) },
  ])('leaves $what alone', async ({ end }) => {
    const { options, kept } = keeper();
    const spilled = await spillEnd(end, options);
    expect(spilled).toEqual({ end });
    expect(kept).toEqual([]);
  });

  it('keeps a long text on behalf of the run, and shows where it is', async () => {
    const { options, kept } = keeper();
    const { end, failure } = await spillEnd(endOf(long), options);
    expect(kept).toEqual([[long, 'run-1']]);
    expect(end.content).toContain(`"ref":"result_${hashText(long)}"`);
    expect(end.content.length).toBeLessThanOrEqual(2000);
    expect(end).toMatchObject({ totalCharacters: 5008, resultHash: 'h' });
    expect(failure).toBeUndefined();
  });

  it('keeps the length that was told where the text was cut before', async () => {
    const { end } = await spillEnd(endOf(long, { totalCharacters: 9_000_000 }), keeper().options);
    expect(end.totalCharacters).toBe(9_000_000);
  });

  it('only cuts where the bound has no room for a reference', async () => {
    const { options, kept } = keeper(300);
    const { end } = await spillEnd(endOf(long), options);
    expect(end.content.length).toBeLessThanOrEqual(300);
    expect(kept).toEqual([]);
  });

  it('holds the texts between images to the bound together', async () => {
    const image = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'url', url: 'https://example.com/a.png' },
    } as const;
    const { options, kept } = keeper();
    const content = [{ type: 'text', text: 'first' }, image, { type: 'text', text: long }] as const;
    const { end } = await spillEnd(endOf(content), options);
    expect(end.content).toEqual([
      content[0],
      image,
      { type: 'text', text: expect.stringContaining('read_result') as unknown },
    ]);
    expect(kept).toEqual([[long, 'run-1']]);
    expect(end.totalCharacters).toBe(5013);
  });
});
