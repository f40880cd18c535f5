import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, RerailError, tool } from '../../src/index.ts';
import type { Agent, AgentOptions, PersonRequest, RunAnswer, RunEvent, RunOutcome } from '../../src/index.ts';
import { team } from '../../src/flow/index.ts';
import { createMemoryEngine } from '../../src/runtime/record/memory-engine.ts';
import type { CreateEngine } from '../../src/runtime/record/durable.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import { calling, expectType, resultsIn, watchEverything } from './scene.ts';

watchEverything();

interface Payment {
  readonly cents: number;
  readonly key: string;
}

interface Till {
  readonly agent: (options?: Partial<AgentOptions>) => Agent;
  readonly paid: Payment[];
  readonly events: RunEvent[];
}

const pays = calling('pay', { cents: 4200 });

/** An agent whose tool asks before it pays, and takes at most 5000 cents. */
function openTill(place: Partial<AgentOptions> = {}): Till {
  const paid: Payment[] = [];
  const events: RunEvent[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ cents: z.number().int().max(5000), to: z.string().optional() }),
    effect: 'once',
    permission: 'ask',
    execute: ({ cents }, { idempotencyKey }) => {
      paid.push({ cents, key: idempotencyKey });
      return `paid ${cents}`;
    },
  });
  const agent = (options: Partial<AgentOptions> = {}): Agent =>
    createAgent({
      name: 'till',
      model: scriptedModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Done.' : pays)),
      tools: [pay],
      ...place,
      ...options,
      callbacks: { onEvent: (event) => void events.push(event), ...options.callbacks },
    });
  return { agent, paid, events };
}

function requestOf(outcome: RunOutcome): Extract<PersonRequest, { type: 'approval' }> {
  const { request } = expectType(outcome, 'suspended');
  if (request?.type !== 'approval') throw new Error('Not asked about a call');
  return request;
}

async function refusalOf(work: Promise<unknown>): Promise<RerailError> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!RerailError.isInstance(error)) throw new Error(`Not refused: ${JSON.stringify(error)}`);
  return error;
}

const engine = (): Partial<AgentOptions> => {
  const engines = new Map<string, ReturnType<CreateEngine>>();
  return {
    engine: (options) => {
      const made = engines.get(options.program.name) ?? createMemoryEngine(options);
      engines.set(options.program.name, made);
      return made;
    },
  };
};

const places: readonly { readonly where: string; readonly place: () => Partial<AgentOptions> }[] = [
  { where: 'in memory', place: () => ({}) },
  { where: 'in a store', place: () => ({ store: memoryStore() }) },
];

describe('an approval with changed arguments', () => {
  it.each(places)('runs the call once with them, and says so, $where', async ({ place }) => {
    const { agent, paid, events } = openTill(place());
    const clerk = agent();
    const request = requestOf(await clerk.run('Pay.', { runId: 'r' }));
    const answer = { approved: true, input: { cents: 500 } } as const;
    const outcome = expectType(await clerk.resume('r', { answer }), 'completed');
    expect(paid.map(({ cents }) => cents)).toEqual([500]);
    const [result] = resultsIn(outcome.messages);
    expect(result).toContain('A person changed the arguments');
    expect(result).toContain('{"cents":500}');
    expect(result).toContain('paid 500');
    const answered = events.find(({ type }) => type === 'approval-answered');
    expect(answered).toMatchObject({
      verdict: 'yes',
      changed: { asked: { input: { cents: 4200 }, hash: request.hash }, input: { cents: 500 } },
    });
    expect(answered).not.toHaveProperty('changed.hash', request.hash);
    const started = events.filter(({ type }) => type === 'tool-started');
    expect(started).toMatchObject([{ input: { cents: 500 } }]);
    await clerk.resume('r', { answer: { approved: true, input: { cents: 600 } } });
    expect(paid).toHaveLength(1);
  });

  it('gives the changed call a key of its own, the same after a restart', async () => {
    const keys = await Promise.all(
      [undefined, { cents: 500 }, { cents: 500 }, { cents: 600 }].map(async (input) => {
        const { agent, paid } = openTill({ store: memoryStore() });
        await agent().run('Pay.', { runId: 'r' });
        await agent().resume('r', { answer: { approved: true, ...(input === undefined ? {} : { input }) } });
        return paid[0]?.key;
      }),
    );
    expect(keys[1]).toBe(keys[2]);
    expect(new Set(keys).size).toBe(3);
  });

  it('counts where another process resumes the run', async () => {
    const { agent, paid } = openTill({ store: memoryStore() });
    await agent().run('Pay.', { runId: 'r' });
    const answer = { approved: true, input: { cents: 500 } } as const;
    expectType(await agent().resume('r', { answer }), 'completed');
    expectType(await agent().resume('r', { answer: { approved: true, input: { cents: 600 } } }), 'completed');
    expect(paid.map(({ cents }) => cents)).toEqual([500]);
  });

  it('comes from the callback as well', async () => {
    const { agent, paid } = openTill();
    const onApproval = (): RunAnswer => ({ approved: true, input: { cents: 500 } });
    expectType(await agent({ callbacks: { onApproval } }).run('Pay.'), 'completed');
    expect(paid.map(({ cents }) => cents)).toEqual([500]);
  });

  const deep = Array.from({ length: 300 }).reduce<unknown>((inner) => ({ inner }), {});
  const unfit: readonly { readonly what: string; readonly input: unknown; readonly says: RegExp }[] = [
    { what: 'too much', input: { cents: 5001 }, says: /cents/ },
    { what: 'of another type', input: { cents: '5' }, says: /cents/ },
    { what: 'missing', input: {}, says: /cents/ },
    { what: 'no object', input: 5, says: /input/ },
    { what: 'a list', input: [{ cents: 5 }], says: /input/ },
    { what: 'null', input: null, says: /input/ },
    { what: '1e999', input: { cents: Number('1e999') }, says: /input/ },
    { what: 'no number', input: { cents: Number.NaN }, says: /input/ },
    { what: 'a bigint', input: { cents: 5n }, says: /input/ },
    { what: 'a date', input: { cents: new Date(0) }, says: /input/ },
    { what: 'too deep', input: deep, says: /input/ },
  ];

  it.each(unfit)('is refused where they are $what, and the question stays open', async ({ input, says }) => {
    const { agent, paid } = openTill({ store: memoryStore() });
    const clerk = agent();
    const asked = requestOf(await clerk.run('Pay.', { runId: 'r' }));
    const answer = { approved: true, input } as RunAnswer;
    for (const resuming of [clerk, agent()]) {
      const error = await refusalOf(resuming.resume('r', { answer }));
      expect(['VALIDATION_ERROR', 'CONFIG_ERROR']).toContain(error.failure.code);
      expect(error.message).toMatch(says);
    }
    expect(requestOf(await agent().resume('r'))).toEqual(asked);
    expect(paid).toEqual([]);
    expectType(await agent().resume('r', { answer: true }), 'completed');
    expect(paid.map(({ cents }) => cents)).toEqual([4200]);
  });

  it('that does not fit leaves the question open where the callback gave it', async () => {
    const { agent, paid, events } = openTill();
    const onApproval = (): RunAnswer => ({ approved: true, input: { cents: 99_999 } });
    requestOf(await agent({ callbacks: { onApproval } }).run('Pay.'));
    expect(paid).toEqual([]);
    expect(events.find(({ type }) => type === 'hook-failed')).toMatchObject({
      hook: 'onApproval',
      failure: { code: 'VALIDATION_ERROR' },
    });
  });

  it('is denied where a rule forbids the changed call', async () => {
    const { agent, paid } = openTill();
    const clerk = agent({
      policy: { permissions: [{ tool: 'pay', input: { cents: { over: 4500 } }, permission: 'deny' }] },
    });
    await clerk.run('Pay.', { runId: 'r' });
    const outcome = await clerk.resume('r', { answer: { approved: true, input: { cents: 4600 } } });
    expect(paid).toEqual([]);
    expect(resultsIn(expectType(outcome, 'completed').messages)[0]).toContain('may not be called like this');
  });

  it('names no prototype', async () => {
    const { agent, paid } = openTill();
    const clerk = agent();
    await clerk.run('Pay.', { runId: 'r' });
    const input: unknown = JSON.parse('{"cents": 7, "__proto__": {"polluted": true}}');
    await clerk.resume('r', { answer: { approved: true, input: input as object } });
    expect(paid.map(({ cents }) => cents)).toEqual([7]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('is bound to the call that was asked about', async () => {
    const { agent, paid } = openTill();
    const clerk = agent();
    await clerk.run('Pay.', { runId: 'r' });
    await clerk.resume('r', { answer: { approved: true, hash: 'f'.repeat(64), input: { cents: 5 } } });
    expect(paid).toEqual([]);
  });

  it('reaches a member of a team', async () => {
    const store = memoryStore();
    const { agent, paid } = openTill({ store });
    const build = (): Agent =>
      team({
        lead: createAgent({
          name: 'lead',
          model: scriptedModel(({ messages }) =>
            messages.at(-1)?.role === 'tool' ? 'Done.' : calling('till', { task: 'Pay.' }),
          ),
          store,
        }),
        agents: { till: agent() },
      });
    const lead = build();
    requestOf(await lead.run('Pay.', { runId: 'r' }));
    const tooMuch = { approved: true, input: { cents: 99_999 } } as const;
    expect((await refusalOf(lead.resume('r', { answer: tooMuch }))).failure.code).toBe('VALIDATION_ERROR');
    expect(paid).toEqual([]);
    const answer = { approved: true, input: { cents: 500 } } as const;
    expectType(await lead.resume('r', { answer }), 'completed');
    expect(paid.map(({ cents }) => cents)).toEqual([500]);
  });

  it('counts for a run of an engine', async () => {
    const { agent, paid } = openTill(engine());
    const clerk = agent();
    requestOf(await clerk.run('Pay.', { runId: 'r' }));
    const tooMuch = { approved: true, input: { cents: 99_999 } } as const;
    expect((await refusalOf(clerk.resume('r', { answer: tooMuch }))).failure.code).toBe('VALIDATION_ERROR');
    expectType(await clerk.resume('r', { answer: { approved: true, input: { cents: 500 } } }), 'completed');
    expect(paid.map(({ cents }) => cents)).toEqual([500]);
  });
});

describe('an answer that means nothing', () => {
  const rows: readonly { readonly answer: unknown; readonly says: RegExp }[] = [
    { answer: { approve: true }, says: /"approve".*did you mean "approved"/ },
    { answer: { aproved: true }, says: /did you mean "approved"/ },
    { answer: { approved: true, reson: 'x' }, says: /did you mean "reason"/ },
    { answer: { approved: 'true' }, says: /"approved" must be true or false/ },
    { answer: { approved: 1 }, says: /"approved" must be true or false/ },
    { answer: { decision: 'approved' }, says: /"decision"/ },
    { answer: { approved: true, type: 'deny' }, says: /"type"/ },
    { answer: { happened: true }, says: /"happened"/ },
    { answer: {}, says: /"approved"/ },
    { answer: 'yes', says: /got "yes"/ },
    { answer: 'no', says: /got "no"/ },
    { answer: 1, says: /got 1/ },
    { answer: null, says: /got null/ },
    { answer: [true], says: /a list/ },
    { answer: { approved: true, changedInput: { cents: 1 } }, says: /"changedInput"/ },
    { answer: Object.defineProperty({}, 'approved', { get: () => true, enumerable: true }), says: /read/ },
  ];

  it.each(rows)('such as $answer is refused, and the question stays open', async ({ answer, says }) => {
    const { agent, paid } = openTill({ store: memoryStore() });
    const clerk = agent();
    const asked = requestOf(await clerk.run('Pay.', { runId: 'r' }));
    for (const resuming of [clerk, agent()]) {
      const error = await refusalOf(resuming.resume('r', { answer: answer as RunAnswer }));
      expect(error.failure.code).toBe('CONFIG_ERROR');
      expect(error.message).toMatch(says);
    }
    expect(requestOf(await agent().resume('r'))).toEqual(asked);
    expect(paid).toEqual([]);
  });

  it.each(rows)('such as $answer of a callback is reported, and the run waits', async ({ answer, says }) => {
    const { agent, paid, events } = openTill();
    const onApproval = (): RunAnswer => answer as RunAnswer;
    requestOf(await agent({ callbacks: { onApproval } }).run('Pay.'));
    expect(paid).toEqual([]);
    const failed = events.find(({ type }) => type === 'hook-failed');
    expect(failed).toMatchObject({ failure: { code: 'CONFIG_ERROR' } });
    expect(JSON.stringify(failed).replaceAll('\\"', '"')).toMatch(says);
  });
});
