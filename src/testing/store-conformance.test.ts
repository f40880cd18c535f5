import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import type { BlobStore, RunRow, RunStore, SessionStore, Store, StoredEvent } from '../model/store/store.ts';
import { memoryStore } from './memory-store.ts';
import type { MemoryStore } from './memory-store.ts';
import { storeConformance } from './store-conformance.ts';
import type { MakeStore } from './store-conformance.ts';

/** Where a store is spoilt, to see whether the suite notices. */
type Spoil = (store: MemoryStore) => Partial<Store>;

function spoilt(
  spoil: Spoil = () => ({}),
  reopened: (store: MemoryStore) => MemoryStore = reopen,
): MakeStore {
  return ({ clock }) => {
    const memory = memoryStore({ clock });
    const open = (handle: MemoryStore): Store => ({ ...handle, ...spoil(handle) });
    return {
      store: open(memory),
      reopen: () => Promise.resolve(open(reopened(memory))),
      damage: memory.damage,
    };
  };
}

function reopen(store: MemoryStore): MemoryStore {
  return store.reopen();
}

const runs =
  (spoil: (runs: RunStore) => Partial<RunStore>): Spoil =>
  (store) => ({ runs: { ...store.runs, ...spoil(store.runs) } });

const blobs =
  (spoil: (blobs: BlobStore) => Partial<BlobStore>): Spoil =>
  (store) => ({ blobs: { ...store.blobs, ...spoil(store.blobs) } });

const sessions =
  (spoil: (sessions: SessionStore) => Partial<SessionStore>): Spoil =>
  (store) => ({ sessions: { ...store.sessions, ...spoil(store.sessions) } });

/** Changes every row that is found. */
const rows = (change: (row: RunRow) => RunRow): Spoil =>
  runs((kept) => ({
    find: async (runId) => {
      const row = await kept.find(runId);
      return row === undefined ? undefined : change(row);
    },
  }));

const events = (change: (event: StoredEvent) => StoredEvent): Spoil =>
  runs((kept) => ({ events: async (runId, range) => (await kept.events(runId, range)).map(change) }));

/** Changes every body and payload on its way in. */
const bodies = (change: (body: Json) => Json): Spoil =>
  runs((kept) => ({
    create: (run, owner) =>
      kept.create(
        { ...run, events: run.events.map((each) => ({ ...each, body: change(each.body) })) },
        owner,
      ),
    append: (lease, addition) =>
      kept.append(lease, {
        ...addition,
        events: addition.events.map((each) => ({ ...each, body: change(each.body) })),
      }),
  }));

/** Changes every id on its way in. */
const named = (change: (id: string) => string): Spoil =>
  runs((kept) => ({
    create: (run, owner) => kept.create({ ...run, runId: change(run.runId) }, owner),
    claim: (runId, owner) => kept.claim(change(runId), owner),
    find: (runId) => kept.find(change(runId)),
    events: (runId, range) => kept.events(change(runId), range),
    signal: (runId, signal) => kept.signal(change(runId), signal),
    signals: (runId) => kept.signals(change(runId)),
    remove: (runId) => kept.remove(change(runId)),
  }));

/** Leaves fields out of a query. */
const deafTo = (...fields: readonly string[]): Spoil =>
  runs((kept) => ({
    list: (query = {}) =>
      kept.list(Object.fromEntries(Object.entries(query).filter(([name]) => !fields.includes(name)))),
  }));

/** Writes with whatever lease is the current one. */
function forgiving(kept: RunStore): RunStore['append'] {
  return async (lease, addition) => {
    const { owner } = (await kept.find(lease.runId)) ?? {};
    for (let epoch = 1; epoch < 20; epoch += 1) {
      const append = kept.append({ ...lease, ownerId: owner?.id ?? lease.ownerId, epoch }, addition);
      const isDone = await append.then(
        () => true,
        () => false,
      );
      if (isDone) return;
    }
  };
}

/** Searches as LIKE does, without escaping. */
function like(kept: RunStore): RunStore['list'] {
  return async ({ text, ...query } = {}) => {
    const page = await kept.list(query);
    if (text === undefined) return page;
    const quoted = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
    const pattern = new RegExp(quoted.replaceAll('%', '.*').replaceAll('_', '.'), 'i');
    return { ...page, runs: page.runs.filter((row) => pattern.test(row.text)) };
  };
}

/** Pages by counting, which moves when a run is added. */
function counted(kept: RunStore): RunStore['list'] {
  return async ({ limit = 50, cursor = '0', ...query } = {}) => {
    const { runs: all } = await kept.list({ ...query, limit: 1000 });
    const end = Number(cursor) + limit;
    const page = all.slice(Number(cursor), end);
    return end < all.length ? { runs: page, next: String(end) } : { runs: page };
  };
}

const isJson = (body: unknown): boolean => !['undefined', 'function', 'bigint'].includes(typeof body);

async function rejectionOf(verb: Promise<void>): Promise<void> {
  await verb.catch(() => undefined);
}

const throughText = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

/** Each is a store as somebody in a hurry would write it. */
const flaws = {
  'takes what is no JSON': bodies((body) => (isJson(body) ? body : null)),
  // First those that the slowest cases catch: what one flaw has broken need not be run with the next.
  'keeps a megabyte of a blob': blobs((kept) => ({
    put: (content, runId) => kept.put(content.slice(0, 1e6), runId),
  })),
  'keeps 64 KB of a text': bodies((body) => {
    const shorten = (_: string, value: unknown): unknown =>
      typeof value === 'string' ? value.slice(0, 65_536) : value;
    return JSON.parse(JSON.stringify(body, shorten)) as Json;
  }),
  'is never full': runs((kept) => ({
    signal: async (runId, each) => {
      const result = await kept.signal(runId, each);
      return result === 'full' ? 'added' : result;
    },
  })),
  'lists ten runs at most': runs((kept) => ({
    list: (query = {}) => kept.list({ ...query, limit: Math.min(10, query.limit ?? 10) }),
  })),
  'writes in any order': runs((kept) => {
    let count = 0;
    return {
      append: async (lease, addition) => {
        count += 1;
        if (count % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        await kept.append(lease, addition);
      },
    };
  }),
  'begins a run as often as it is told': runs((kept) => ({
    create: async (run, owner) => {
      await kept.remove(run.runId);
      return kept.create(run, owner);
    },
  })),
  'says that no run exists': runs((kept) => ({
    create: async (run, owner) => {
      const created = await kept.create(run, owner);
      const lease = { runId: run.runId, ownerId: owner.id, epoch: 1 };
      return created.type === 'exists' ? { type: 'created', lease } : created;
    },
  })),
  'gives a row more than it has': rows((row) => ({ code: 'NONE', reason: '', resumeAtMs: 0, ...row })),
  'numbers events from 0': events((event) => ({ ...event, seq: event.seq - 1 })),
  'forgets times': events((event) => ({ ...event, atMs: 0 })),
  'forgets types': events((event) => ({ ...event, type: 'event' })),
  'hashes each event alone': events((event) => ({ ...event, hash: JSON.stringify(event.body) })),
  'gives all events, whatever was asked for': runs((kept) => ({ events: (runId) => kept.events(runId) })),
  'takes "to" as exclusive': runs((kept) => ({
    events: (runId, { to, ...range } = {}) =>
      kept.events(runId, to === undefined ? range : { ...range, to: to - 1 }),
  })),
  'keeps the last addition only': runs((kept) => ({
    events: async (runId) => (await kept.events(runId)).slice(-1),
  })),
  'changes no row': runs((kept) => ({
    append: (lease, { row: _, ...addition }) => kept.append(lease, addition),
  })),
  'writes null as a value': rows((row) => ({ code: 'null', reason: 'null', costUsd: 0, ...row })),
  'makes an event of every change': runs((kept) => ({
    append: (lease, addition) =>
      kept.append(lease, { ...addition, events: [...addition.events, { type: 'row', body: null }] }),
  })),
  'begins every generation with the first event': rows((row) => ({ ...row, generationSeq: 1 })),
  'finds the latest event of any type': runs((kept) => ({
    latestOf: async (runIds) => {
      const heads = await Promise.all(runIds.map(async (runId) => (await kept.find(runId))?.headSeq ?? 0));
      return new Map(runIds.map((runId, index) => [runId, heads[index] ?? 0]));
    },
  })),
  'knows every run': runs((kept) => ({
    events: async (runId) => {
      const found = await kept.events(runId);
      return found.length > 0 ? found : [{ seq: 1, atMs: 0, type: 'note', body: null, hash: '' }];
    },
  })),
  'fails in words of its own': runs((kept) => ({
    append: (lease, addition) =>
      kept.append(lease, addition).catch(() => {
        throw configError('no');
      }),
  })),
  'swallows what it cannot write': runs((kept) => ({
    append: (lease, addition) => rejectionOf(kept.append(lease, addition)),
  })),
  'has no fence': runs((kept) => ({ append: forgiving(kept) })),
  'gives a run to whoever wants it': runs((kept) => ({
    claim: async (runId, owner) => {
      const first = await kept.claim(runId, owner);
      if (first.type !== 'held') return first;
      const row = await kept.find(runId);
      const lease = { runId, ownerId: owner.id, epoch: 99 };
      return row === undefined ? first : { type: 'claimed', lease, row, wasAbandoned: false };
    },
  })),
  'never gives a run away': runs((kept) => ({
    claim: async (runId, owner) =>
      (await kept.find(runId)) === undefined
        ? { type: 'unknown' }
        : { type: 'held', ownerId: owner.id, untilMs: 0 },
  })),
  'calls every run abandoned': runs((kept) => ({
    claim: async (runId, owner) => {
      const claimed = await kept.claim(runId, owner);
      return claimed.type === 'claimed' ? { ...claimed, wasAbandoned: true } : claimed;
    },
  })),
  'gives back any lease': runs((kept) => ({
    release: async (lease) => {
      const { owner } = (await kept.find(lease.runId)) ?? {};
      for (let epoch = 1; epoch < 20; epoch += 1)
        await kept.release({ ...lease, ownerId: owner?.id ?? '', epoch });
    },
  })),
  'gives back nothing': runs(() => ({ release: () => Promise.resolve() })),
  'always tells an owner': rows((row) => ({ owner: { id: 'anna', untilMs: 0 }, ...row })),
  'refuses whoever is late': runs((kept) => ({
    append: async (lease, addition) => {
      const { owner } = (await kept.find(lease.runId)) ?? {};
      await kept.append(owner === undefined ? { ...lease, epoch: -1 } : lease, addition);
    },
  })),
  'renews nothing': runs(() => ({ renew: () => Promise.resolve([]) })),
  'tells every run as lost': runs((kept) => ({
    renew: async (owner) => [...(await kept.renew(owner)), 'run-1'],
  })),
  'keeps every signal': runs((kept) => {
    let count = 0;
    return { signal: (runId, each) => kept.signal(runId, { ...each, id: `${each.id}-${(count += 1)}` }) };
  }),
  'keeps the latest of two signals': runs((kept) => ({
    signals: async (runId) => (await kept.signals(runId)).map((each) => ({ ...each, payload: 'second' })),
  })),
  'orders signals by id': runs((kept) => ({
    signals: async (runId) => (await kept.signals(runId)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  })),
  'takes no signals': runs((kept) => ({
    append: (lease, { took: _, ...addition }) => kept.append(lease, addition),
  })),
  'takes signals by themselves': (store) => {
    const taken = new Set<string>();
    return {
      runs: {
        ...store.runs,
        append: (lease, addition) => {
          for (const id of addition.took ?? []) taken.add(id);
          return store.runs.append(lease, addition);
        },
        signals: async (runId) => (await store.runs.signals(runId)).filter(({ id }) => !taken.has(id)),
      },
    };
  },
  'knows signals by id alone': runs((kept) => {
    const known = new Set<string>();
    return {
      signal: async (runId, each) => {
        if (known.has(each.id)) return 'duplicate';
        const result = await kept.signal(runId, each);
        if (result === 'added') known.add(each.id);
        return result;
      },
    };
  }),
  'is deaf to status': deafTo('status'),
  'is deaf to agent': deafTo('agent'),
  'is deaf to session and code': deafTo('sessionId', 'code'),
  'is deaf to tool': deafTo('tool'),
  'is deaf to text': deafTo('text'),
  'is deaf to times': deafTo('fromMs', 'toMs'),
  'joins filters by or': runs((kept) => ({
    list: async (query = {}) => {
      const fields = Object.entries(query).filter(([name]) => name !== 'limit' && name !== 'cursor');
      const pages = await Promise.all(fields.map((field) => kept.list(Object.fromEntries([field]))));
      const found = new Map(pages.flatMap((page) => page.runs.map((row) => [row.runId, row])));
      return fields.length < 2 ? kept.list(query) : { runs: [...found.values()] };
    },
  })),
  'takes an empty text for one that occurs nowhere': runs((kept) => ({
    list: (query = {}) => kept.list(query.text === '' ? { ...query, status: [] } : query),
  })),
  'lists the oldest first': runs((kept) => ({
    list: async (query) => {
      const page = await kept.list(query);
      return { ...page, runs: page.runs.toReversed() };
    },
  })),
  'takes an empty list of statuses for none given': runs((kept) => ({
    list: ({ status = [], ...query } = {}) => kept.list(status.length === 0 ? query : { ...query, status }),
  })),
  'searches by LIKE': runs((kept) => ({ list: like(kept) })),
  'searches with ASCII in mind': runs((kept) => ({
    list: async (query = {}) => {
      const page = await kept.list(query);
      const isPlain = !/[^ -~]/.test(query.text ?? '');
      return isPlain
        ? page
        : { ...page, runs: page.runs.filter((row) => row.text.includes(query.text ?? '')) };
    },
  })),
  'pages by counting': runs((kept) => ({ list: counted(kept) })),
  'always names a further page': runs((kept) => ({
    list: async (query) => ({ next: '[0,""]', ...(await kept.list(query)) }),
  })),
  'finds nobody waiting': runs(() => ({ waiting: () => Promise.resolve([]) })),
  'takes everything that is not ended for waiting': runs((kept) => ({
    waiting: async ({ agents, limit }) => {
      const { runs: all } = await kept.list({ limit });
      return all
        .filter((row) => agents.includes(row.agent) || agents.length === 0)
        .map((row) => ({ row, why: 'interrupted' as const }));
    },
  })),
  'prunes nothing': runs(() => ({ prune: () => Promise.resolve(0) })),
  'prunes everything': runs((kept) => ({
    prune: async () => {
      const { runs: all } = await kept.list();
      for (const { runId } of all) await kept.remove(runId);
      return all.length;
    },
  })),
  'knows nothing of runs below others': runs((kept) => ({
    list: ({ below: _, ...query } = {}) => kept.list(query),
  })),
  'removes nothing': runs(() => ({ remove: () => Promise.resolve(false) })),
  'names each blob anew': blobs((kept) => {
    let count = 0;
    return {
      put: (content, runId) => kept.put(`${(count += 1)} ${content}`, runId),
      get: async (hash) => (await kept.get(hash))?.replace(/^\d+ /, ''),
    };
  }),
  'keeps blobs as UTF-8': blobs((kept) => ({
    put: (content, runId) => kept.put(throughText(content), runId),
  })),
  'cuts blobs at a NUL': blobs((kept) => ({
    put: (content, runId) => kept.put(content.split('\u0000')[0] ?? '', runId),
  })),
  'takes an empty blob for none': blobs((kept) => ({
    get: async (hash) => {
      const content = await kept.get(hash);
      return content === '' ? undefined : content;
    },
  })),
  'keeps blobs as Latin letters': blobs((kept) => ({
    put: (content, runId) => kept.put(Buffer.from(content, 'latin1').toString('latin1'), runId),
  })),
  'quotes what it keeps in blobs': blobs((kept) => ({
    put: (content, runId) => kept.put(content.replaceAll("'", "''"), runId),
  })),
  'knows every hash': blobs((kept) => ({ get: async (hash) => (await kept.get(hash)) ?? '' })),
  'keeps no blob for a run it does not know': (store) => ({
    blobs: {
      ...store.blobs,
      put: async (content, runId) =>
        (await store.runs.find(runId)) === undefined ? '' : store.blobs.put(content, runId),
    },
  }),
  'adds to a session as often as it is told': sessions((kept) => {
    let count = 0;
    return { append: (id, messages) => kept.append(id, messages, `run-${(count += 1)}`) };
  }),
  'knows a run in one session only': sessions((kept) => {
    const known = new Set<string>();
    return {
      append: async (id, messages, runId) => {
        if (known.has(runId)) return;
        known.add(runId);
        await kept.append(id, messages, runId);
      },
    };
  }),
  'keeps texts of messages only': sessions((kept) => ({
    messages: async (id, range) =>
      (await kept.messages(id, range)).map(({ content }) => ({
        role: 'user',
        content: typeof content === 'string' ? content : '',
      })),
  })),
  'gives all messages': sessions((kept) => ({ messages: (id) => kept.messages(id) })),
  'gives the first messages': sessions((kept) => ({
    messages: async (id, { last = 99 } = {}) => (await kept.messages(id)).slice(0, last),
  })),
  'gives no messages where there are fewer than wanted': sessions((kept) => ({
    messages: async (id, range) => {
      const messages = await kept.messages(id, range);
      return messages.length < (range?.last ?? 0) ? [] : messages;
    },
  })),
  'creates no empty session': sessions((kept) => ({
    append: async (id, messages, runId) => {
      if (messages.length > 0) await kept.append(id, messages, runId);
    },
  })),
  'tells one session too many': sessions((kept) => ({
    list: async (query) => {
      const page = await kept.list(query);
      return { ...page, sessions: [...page.sessions, ...page.sessions.slice(0, 1)] };
    },
    find: async (id) =>
      (await kept.find(id)) ?? { sessionId: id, createdAtMs: 0, updatedAtMs: 0, messages: 0 },
  })),
  'trims nothing': sessions(() => ({ trim: () => Promise.resolve(0) })),
  'removes no session': sessions(() => ({ remove: () => Promise.resolve(false) })),
  'removes sessions with their runs': (store) => ({
    runs: {
      ...store.runs,
      remove: async (runId) => {
        const row = await store.runs.find(runId);
        if (row?.sessionId !== undefined) await store.sessions.remove(row.sessionId);
        return store.runs.remove(runId);
      },
    },
  }),
  'counts nothing': () => ({
    check: () => Promise.resolve({ runs: 0, events: 0, blobs: 0, problems: [] }),
  }),
  'accepts less than there is': runs((kept) => ({
    acceptHead: async (runId) => void (await kept.remove(runId)),
  })),
  'writes late': runs((kept) => ({
    append: async (lease, addition) => {
      await Promise.resolve();
      await kept.append(lease, addition);
    },
  })),
  'shares what it has read': runs((kept) => {
    const read = new Map<string, readonly StoredEvent[]>();
    return {
      events: async (runId, range) => {
        const known = read.get(runId) ?? (await kept.events(runId, range));
        read.set(runId, known);
        return known;
      },
    };
  }),
  'forgets what was there when it is opened': (store) => ({
    open: async () => void (await store.runs.remove('run-1')),
  }),
  'keeps bodies by key order': bodies((body) =>
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? Object.fromEntries(Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : body,
  ),
  'keeps bodies with their half pairs replaced': bodies((body) => {
    const text = JSON.stringify(body).replaceAll(/\\ud[89a-f]../g, '\ufffd');
    return JSON.parse(text) as Json;
  }),
  'merges bodies into objects': bodies((body) =>
    // A merge sets the prototype where the key is __proto__.
    typeof body === 'object' && body !== null && !Array.isArray(body) ? merged(body) : body,
  ),
  'cuts bodies at a NUL': bodies((body) => {
    const text = JSON.stringify(body).replaceAll('\\u0000b', '');
    return JSON.parse(text) as Json;
  }),
  'keeps numbers in 32 bits': bodies((body) => {
    const shorten = (_: string, value: unknown): unknown =>
      typeof value === 'number' ? Math.fround(value) : value;
    return JSON.parse(JSON.stringify(body, shorten)) as Json;
  }),
  'keeps 100 levels': bodies((body) => (depthOf(body) > 100 ? null : body)),
  'quotes what it keeps': bodies((body) => (typeof body === 'string' ? body.replaceAll("'", "''") : body)),
  'keeps bodies as Latin letters': bodies(
    (body) => JSON.parse(Buffer.from(JSON.stringify(body), 'latin1').toString('latin1')) as Json,
  ),
  'takes nothing for null': bodies((body) => (Array.isArray(body) && body[0] === null ? [] : body)),
  'quotes ids': named((id) => id.replaceAll("'", '')),
  'takes ids for paths': named((id) => id.split('/').at(-1) ?? id),
  'keeps ids as ASCII': named((id) => id.replaceAll(/[^\u0020-\u007f]/g, '?')),
  'trims ids': named((id) => id.trim()),
  'cuts ids': named((id) => id.slice(0, 255)),
  'forgets the signals that were taken, where a run goes elsewhere': runs((kept) => ({
    whole: async (runId) => {
      const whole = await kept.whole(runId);
      return whole && { ...whole, signals: whole.signals.filter(({ isTaken }) => !isTaken) };
    },
  })),
  'restores a run over the one that is there': runs((kept) => ({
    restore: async (run) => {
      await kept.remove(run.row.runId);
      return kept.restore(run);
    },
  })),
  'restores what does not hold': runs((kept) => ({
    restore: (run) => kept.restore(run).catch(() => 'restored'),
  })),
  'restores a session over the one that is there': sessions((kept) => ({
    restore: async (session) => {
      await kept.remove(session.row.sessionId);
      return kept.restore(session);
    },
  })),
  'forgets who has added to a session, where it goes elsewhere': sessions((kept) => ({
    restore: (session) => kept.restore({ ...session, runIds: [] }),
  })),
} as const satisfies Record<string, Spoil>;

function merged(body: object): Json {
  const into: Record<string, Json> = {};
  for (const [key, value] of Object.entries(body)) into[key] = value as Json;
  return into;
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map((inner) => depthOf(inner)));
}

describe('storeConformance', () => {
  const names = storeConformance('it', spoilt()).map(({ name }) => name);
  const makers = new Map([
    ...Object.entries<Spoil>(flaws).map(([name, spoil]) => [name, spoilt(spoil)] as const),
    ['forgets everything when it is reopened', spoilt(undefined, () => memoryStore())] as const,
  ]);
  /** The first case that each of them breaks. */
  const firstBroken = new Map<string, string>();
  const caught = new Set<string>();

  /** Runs the cases that nothing has broken yet, and of the others as many as it takes to break one. */
  async function breakCases(flawName: string, makeStore: MakeStore): Promise<void> {
    const cases = storeConformance('it', makeStore);
    const isCaught = new Map(cases.map(({ name }) => [name, caught.has(name)]));
    const [late, early] = [
      cases.filter(({ name }) => isCaught.get(name)),
      cases.filter(({ name }) => !isCaught.get(name)),
    ];
    for (const { name, run } of [...early, ...late]) {
      if (firstBroken.has(flawName) && isCaught.get(name) === true) return;
      const isBroken = await run().then(
        () => false,
        () => true,
      );
      if (!isBroken) continue;
      caught.add(name);
      if (!firstBroken.has(flawName)) firstBroken.set(flawName, name);
    }
  }

  beforeAll(async () => {
    for (const [name, makeStore] of makers) await breakCases(name, makeStore);
  });

  it.each([...makers.keys()])('catches a store that %s', (name) => {
    expect(firstBroken.get(name)).toBeDefined();
  });

  it('has no case that all of them pass', () => {
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });

  it('leaves out what a store cannot do', () => {
    const some = storeConformance('it', spoilt(), { unsupported: ['reopen', 'damage'] });
    const left = some.map(({ name }) => name);
    expect(left.filter((name) => /process|events are lost|not what was written/.test(name))).toEqual([]);
    expect(left.length).toBe(names.length - 7);
  });
});
