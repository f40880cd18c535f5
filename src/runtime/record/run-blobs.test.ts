import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Message } from '../../model/message.ts';
import type { NewEvent } from '../../model/store/store.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import type { MemoryStore } from '../../testing/memory-store.ts';
import { exportRun } from '../transfer/export-run.ts';
import { importRun } from '../transfer/import-run.ts';
import { keepInput } from './kept-input.ts';
import { readRunBlobs } from './run-blobs.ts';
import { planSpill } from '../tool-result/spill-result.ts';

const secret = `sk-ant-api03-${'Ab3dEf6hIj9k'.repeat(8)}`;
const owner = { id: 'test', leaseMs: 1000 };

/** A result that was too long to be shown, as the store keeps it and the journal shows it. */
async function spilled(store: MemoryStore, text: string, runId: string): Promise<string> {
  const plan = planSpill(text, { maxCharacters: 2000 });
  return plan?.contentFor(await store.blobs.put(plan.spilled, runId)) ?? '';
}

function toolCall(content: string, name = 'search'): NewEvent {
  const end = { callId: 'c1', name, type: 'ok', content, resultHash: 'h', durationMs: 1 };
  const input = { turn: 1, index: 0, attempt: 1 };
  const outcome = { type: 'done', value: { end, tookMs: 1, drawn: 0 } };
  return { type: 'call', body: { type: 'call', position: 1, effect: 'tool', input, outcome } };
}

async function began(store: MemoryStore, messages: readonly Message[]): Promise<NewEvent> {
  const input = { type: 'carry-on', state: { runId: 'r1', history: { settled: messages, recent: [] } } };
  const kept = await keepInput(input as unknown as Json, 'r1', store.blobs); // Messages are JSON.
  return { type: 'began', body: { version: '1', generation: 1, facts: {}, input: kept } };
}

const longResult = `${'found '.repeat(2000)} password=${secret} ${'and more '.repeat(2000)}`;
const conversation = Array.from({ length: 130 }, (_, index): Message => ({
  role: 'user',
  content: `${index}: ${index === 70 ? secret : 'nothing'}`,
}));

async function storeWith(events: readonly NewEvent[], store: MemoryStore): Promise<MemoryStore> {
  await store.runs.create({ runId: 'r1', agent: 'clerk', events, row: { status: 'running' } }, owner);
  return store;
}

describe('what the events of a run refer to', () => {
  it('must be there, as far as it is the conversation', async () => {
    const [store, other] = [memoryStore(), memoryStore()];
    const event = await began(store, conversation);
    const error: unknown = await readRunBlobs(other.blobs, 'r1', [event]).catch((reason: unknown) => reason);
    expect(RerailError.isInstance(error) ? error.failure.code : error).toBe('STORAGE_CORRUPT');
  });

  it('is not what somebody has merely written', async () => {
    const store = memoryStore();
    const shown = await spilled(store, longResult, 'another-run');
    const events = [
      await began(store, [{ role: 'user', content: shown }]),
      toolCall(shown, 'read_result'),
      { type: 'call', body: { type: 'call', position: 2, effect: 'model', outcome: { value: shown } } },
    ];
    expect(await readRunBlobs(store.blobs, 'r1', events)).toEqual([]);
  });

  it('is never tripped over, whatever form it has', async () => {
    const odd: readonly Json[] = [
      null,
      'text',
      { input: { messages: [null, { role: 'tool', content: 5 }, { role: 'tool', content: [null] }] } },
      { input: { state: { history: { settled: { chunks: 'none' }, recent: 7 } } } },
      { outcome: { value: { end: { name: 5, content: [5] } } } },
    ];
    const events = odd.flatMap((body) => ['began', 'call', 'ended'].map((type) => ({ type, body })));
    expect(await readRunBlobs(memoryStore().blobs, 'r1', events)).toEqual([]);
  });

  it('goes with the run, without its secrets, and is found where it is imported', async () => {
    const store = memoryStore();
    const shown = await spilled(store, longResult, 'r1');
    await storeWith([await began(store, conversation), toolCall(shown)], store);
    const text = await exportRun(store, 'r1');
    expect(text).not.toContain(secret);
    const other = memoryStore();
    await importRun(other, text, { as: 'r2' });
    const blobs = await readRunBlobs(other.blobs, 'r2', await other.runs.events('r2'));
    expect(blobs.map(({ type }) => type)).toEqual(['messages', 'messages', 'text']);
    expect(blobs[1]?.content).toContain('70: [redacted anthropic key]');
    expect(blobs[2]?.content).toContain('[redacted');
    expect(await exportRun(other, 'r2')).toBe(text);
  });
});
