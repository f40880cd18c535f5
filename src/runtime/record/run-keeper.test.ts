import { expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { memoryStore } from '../../testing/memory-store.ts';
import { simulatedClock } from '../../testing/index.ts';
import { createRunKeeper } from './run-keeper.ts';
import type { RunKeeper } from './run-keeper.ts';

function setScene(): { readonly keeper: RunKeeper; readonly endPuts: () => void } {
  const clock = simulatedClock();
  const store = memoryStore({ clock });
  const open: (() => void)[] = [];
  const { put } = store.blobs;
  const slow: typeof put = async (content, runId) => {
    await new Promise<void>((resolve) => open.push(resolve));
    return put(content, runId);
  };
  const keeper = createRunKeeper({
    store: { ...store, blobs: { ...store.blobs, put: slow } },
    agent: 'clerk',
    owner: { id: 'owner', leaseMs: 30_000 },
    facts: () => ({ instructions: '', models: [], tools: {}, output: '' }),
    clock,
    describeStart: () => ({}),
    sessionOf: () => undefined,
    onLost: () => undefined,
    onSignal: () => undefined,
    onUnsaved: () => undefined,
  });
  return { keeper, endPuts: () => open.splice(0).forEach((end) => end()) };
}

const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Long enough that it is kept in pieces. */
const long: Json = { state: { history: { settled: Array.from({ length: 64 }, () => 'said') } } };

it('writes nothing of a generation into a life of the run that came after it', async () => {
  const { keeper, endPuts } = setScene();
  const { recorder, store } = keeper;
  const beginning = { runId: 'r', version: '1' };
  await recorder.begin({ ...beginning, generation: 1, input: null });
  const begun = Promise.allSettled([recorder.begin({ ...beginning, generation: 2, input: long })]);
  await keeper.release('r');
  expect(await keeper.take('r')).toMatchObject({ type: 'taken' });
  endPuts();
  expect((await begun)[0]).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_LOCKED' } });
  await rest();
  expect((await store.runs.events('r')).map(({ type }) => type)).toEqual(['began']);
});

it('keeps what somebody sends to a run that is being given back', async () => {
  const { keeper } = setScene();
  const { recorder, store } = keeper;
  await recorder.begin({ runId: 'r', version: '1', generation: 1, input: null });
  const released = keeper.release('r');
  expect(keeper.holds('r')).toBe(false);
  expect(await recorder.signal('r', { id: '1', name: 'message', payload: 'hello' })).toBe('added');
  await released;
  expect(await store.runs.signals('r')).toMatchObject([{ id: '1', payload: 'hello' }]);
});
