import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallRecord, RecordedCall } from '../agent/conducted.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { Conductor, ConductorStep, ConductorView } from '../runtime/children/conductor.ts';
import { createFlowConductor } from './conduct-flow.ts';
import { createGraph } from './flow-graph.ts';
import type { FlowContext, FlowEdge, NodeOptions } from './flow-types.ts';
import { readFlow } from './read-flow.ts';
import { simulatedClock } from '../testing/simulated-clock.ts';

type Nodes = Readonly<Record<string, NodeOptions>>;

const failure = createFailure('RATE_LIMITED', {
  origin: 'model',
  message: 'too many requests',
  hint: 'Wait a minute.',
  retryAfterMs: 60_000,
  context: { model: 'm' },
});
const failed: Partial<CallRecord> = { status: 'failed', failure };

describe('a flow of which a node fails', () => {
  it('fails with the failure of the node, by its name', async () => {
    const step = await conductor('a >> b').decide(view([ended('a', 'x'), ended('b', failed)]));
    expect(step).toEqual({
      type: 'fail',
      failure: {
        ...failure,
        message: 'The node "b" of the flow "f" failed: too many requests',
        context: { model: 'm', flow: 'f', node: 'b' },
      },
    });
  });

  it('begins nothing new, even where a branch could go on', async () => {
    const step = await conductor('(a >> c) | b').decide(view([ended('a', 'x'), ended('b', failed)]));
    expect(step).toMatchObject({ type: 'fail', failure: { context: { node: 'b' } } });
  });

  it('names all that failed side by side', async () => {
    const step = await conductor('a | b | c').decide(
      view([ended('a', failed), ended('b', 'x'), ended('c', failed)]),
    );
    expect(step).toMatchObject({ failure: { context: { node: 'a', alsoFailed: ['c'] } } });
  });

  it.each([
    { status: 'denied', content: 'not today' },
    { status: 'unknown', content: 'nobody saw the end' },
    { status: 'retry', content: 'ask otherwise' },
  ] as const)('by the record "$status" too', async ({ status, content }) => {
    const step = await conductor('a').decide(view([ended('a', { status, content })]));
    expect(step).toMatchObject({
      type: 'fail',
      failure: { code: 'UNKNOWN', message: expect.stringContaining(content) as string },
    });
  });

  it('calls only that one again when it is gone on with', async () => {
    const calls = [ended('a', 'x'), ended('b', failed), ended('c', 'y')];
    const step = await conductor('a >> (b | c) >> d').decide(view(calls, { resumes: 1 }));
    expect(step).toEqual({ type: 'call', calls: [{ name: 'b', input: { do: 'run' } }] });
  });

  it('fails again when that one fails again, and goes on when it does not', async () => {
    const calls = [ended('a', 'x'), ended('b', failed)];
    const { decide } = conductor('a >> b >> c');
    const again = decide(view([...calls, ended('b', { ...failed, resumes: 1 })], { resumes: 1 }));
    expect(await again).toMatchObject({ type: 'fail' });
    const step = await decide(view([...calls, ended('b', 'now')], { resumes: 1 }));
    expect(step).toEqual({ type: 'call', calls: [{ name: 'c', input: { do: 'run' } }] });
  });

  it.each([{ resumes: 0 }, { resumes: 3 }])(
    'calls again what was broken off (gone on with $resumes times)',
    async ({ resumes }) => {
      const calls = [ended('a', 'x'), ended('b', { status: 'interrupted', resumes })];
      const step = await conductor('a | b', { b: { onError: 'skip' } }).decide(view(calls, { resumes }));
      expect(step).toEqual({ type: 'call', calls: [{ name: 'b', input: { do: 'run' } }] });
    },
  );

  it('goes on without it where its "onError" is "skip", also when it is gone on with later', async () => {
    const { decide } = conductor('(a | b) >> c', { a: { onError: 'skip' } });
    const calls = [ended('a', failed), ended('b', 'x')];
    for (const resumes of [0, 1])
      expect(await decide(view(calls, { resumes }))).toMatchObject({ type: 'call', calls: [{ name: 'c' }] });
  });

  it('calls its fallback, whose result stands for it', async () => {
    const { decide } = conductor('a >> b', { a: { onError: { fallback: 'spare' } } });
    const calls = [ended('a', failed)];
    expect(await decide(view(calls))).toMatchObject({
      type: 'call',
      calls: [{ name: 'spare', input: { do: 'run' } }],
    });
    calls.push(ended('spare', 'x'));
    expect(await decide(view(calls))).toMatchObject({ type: 'call', calls: [{ name: 'b' }] });
    calls.push(ended('b', 'y'));
    expect(await decide(view(calls))).toEqual({ type: 'answer', text: 'y', output: 'y' });
  });

  it('fails where the fallback fails too, and calls the fallback again when it is gone on with', async () => {
    const { decide } = conductor('a >> b', { a: { onError: { fallback: 'spare' } } });
    const calls = [ended('a', failed), ended('spare', failed)];
    expect(await decide(view(calls))).toMatchObject({
      type: 'fail',
      failure: {
        message: 'The node "a" of the flow "f" failed, and so did "spare" in its place: too many requests',
        context: { node: 'a', fallback: 'spare' },
      },
    });
    expect(await decide(view(calls, { resumes: 1 }))).toMatchObject({ calls: [{ name: 'spare' }] });
  });

  describe('and the flow goes on', () => {
    const skipping: Nodes = { a: { onError: 'skip' } };
    const nodes: Nodes = { ...skipping, b: { onError: { fallback: 'spare' } } };
    const fallBack = {
      failure,
      recovery: 'fall-back',
      reason: '"spare" takes the place of the node "b", as its "onError" says',
    };
    const skip = {
      failure,
      recovery: 'skip',
      reason: 'the flow continues without the node "a", as its "onError" says',
      lostMs: 70,
    };

    it('says what it does about each failure, and says it once', async () => {
      const { decide } = conductor('(a | b | c) >> d', nodes);
      const calls = together(ended('a', { ...failed, lostMs: 70 }), ended('b', failed), ended('c', 'x'));
      const step = await decide(view(calls));
      expect(step).toMatchObject({ type: 'call', calls: [{ name: 'spare' }], rungs: [skip, fallBack] });
      const later = await decide(view([...calls, { ...ended('spare', 'y'), round: 1001 }]));
      expect(later).toEqual({ type: 'call', calls: [{ name: 'd', input: { do: 'run' } }] });
    });

    it('says it with its answer, where that comes next', async () => {
      const step = await conductor('a | c', skipping).decide(
        view(together(ended('a', { ...failed, lostMs: 70 }), ended('c', 'x'))),
      );
      expect(step).toMatchObject({ type: 'answer', rungs: [skip] });
    });

    it('says nothing while another failure ends it, and says it when it is gone on with', async () => {
      const { decide } = conductor('a | c', skipping);
      const calls = together(ended('a', { ...failed, lostMs: 70 }), ended('c', failed));
      expect(await decide(view(calls))).not.toHaveProperty('rungs');
      const step = await decide(view(calls, { resumes: 1 }));
      expect(step).toMatchObject({ type: 'call', calls: [{ name: 'c' }], rungs: [skip] });
    });

    it('says nothing of a node that is called again, for nothing came of the flow without it', async () => {
      const { decide } = conductor('a', skipping);
      const calls = [ended('a', failed)];
      expect(await decide(view(calls))).toMatchObject({ type: 'fail' });
      const step = await decide(view(calls, { resumes: 1 }));
      expect(step).toEqual({ type: 'call', calls: [{ name: 'a', input: { do: 'run' } }] });
    });
  });

  it('follows a chain of fallbacks to one that may be done without', async () => {
    const { decide } = conductor('a >> b', {
      a: { onError: { fallback: 'spare' } },
      spare: { onError: { fallback: 'sparest' } },
      sparest: { onError: 'skip' },
    });
    const calls = [ended('a', failed), ended('spare', failed)];
    expect(await decide(view(calls))).toMatchObject({ calls: [{ name: 'sparest' }] });
    calls.push(ended('sparest', failed));
    expect(await decide(view(calls))).toMatchObject({ calls: [{ name: 'b' }] });
  });

  it('is a defect to ask about while a node runs', () => {
    expect(() => conductor('a').decide(view([begun('a')]))).toThrow('while its node "a" runs');
  });
});

describe('"when" and "accepts"', () => {
  it.each([
    {
      what: 'throws',
      when: () => {
        throw new Error('no rule');
      },
    },
    { what: 'rejects', when: () => Promise.reject(new Error('no rule')) },
  ])('a node is refused whose "when" $what', async ({ when }) => {
    const step = await conductor('a | b', { a: { when } }).decide(view([]));
    expect(step).toMatchObject({
      type: 'call',
      calls: [
        { name: 'a', input: { do: 'refuse', failure: { origin: 'flow', message: 'no rule' } } },
        { name: 'b', input: { do: 'run' } },
      ],
    });
  });

  it('a node that was refused fails the flow, and is asked about again when that is gone on with', async () => {
    const { decide } = conductor('a', { a: { when: () => true } });
    const refused: RecordedCall = {
      ...ended('a', { status: 'failed' }),
      input: { do: 'refuse', failure: failure as unknown as Json },
    };
    expect(await decide(view([refused]))).toMatchObject({ type: 'fail', failure: { code: 'RATE_LIMITED' } });
    expect(await decide(view([refused], { resumes: 1 }))).toMatchObject({
      calls: [{ input: { do: 'run' } }],
    });
  });

  it('a node is skipped whose "when" says no, and the next one is not', async () => {
    const { decide } = conductor('a >> b >> c', { b: { when: () => Promise.resolve(false) } });
    const calls = [ended('a', 'x')];
    expect(await decide(view(calls))).toEqual({
      type: 'call',
      calls: [{ name: 'b', input: { do: 'skip', reason: 'its "when" returned false' } }],
    });
    calls.push(skipped('b'));
    expect(await decide(view(calls))).toMatchObject({ calls: [{ name: 'c', input: { do: 'run' } }] });
  });

  it('"when" is told the task and all results so far, a fallback’s under both names', async () => {
    const told: FlowContext[] = [];
    const { decide } = conductor('(a | b | c) >> d', {
      a: { onError: { fallback: 'spare' } },
      b: { onError: 'skip' },
      d: {
        when: (context) => {
          told.push(context);
          return true;
        },
      },
    });
    await decide(view([ended('a', failed), ended('b', failed), skipped('c'), ended('spare', { price: 3 })]));
    const given = { status: 'succeeded', text: '{"price":3}', output: { price: 3 } };
    expect(JSON.parse(JSON.stringify(told))).toEqual([
      {
        task: 'Do it.',
        before: ['a', 'b', 'c'],
        results: {
          a: given,
          b: { status: 'failed', failure },
          c: { status: 'skipped', reason: 'no' },
          spare: given,
        },
      },
    ]);
  });

  it.each([
    { what: 'JSON Schema', accepts: { type: 'object', required: ['price'] }, issue: 'price' },
    { what: 'zod', accepts: z.object({ price: z.number() }), issue: 'price: ' },
    {
      what: 'a schema that waits',
      accepts: z.looseObject({}).refine(() => Promise.resolve(false), 'is never right'),
      issue: 'is never right',
    },
  ])('a node refuses what it does not take, by $what, and names both', async ({ accepts, issue }) => {
    const { decide } = conductor('a >> b', { b: { accepts } });
    const step = await decide(view([ended('a', { cost: 3 })]));
    expect(step).toMatchObject({
      calls: [
        {
          name: 'b',
          input: { do: 'refuse', failure: { code: 'VALIDATION_ERROR', context: { node: 'b', from: 'a' } } },
        },
      ],
    });
    expect(JSON.stringify(step)).toContain(issue);
    expect(JSON.stringify(step)).toContain('cannot take what');
  });

  it('a node takes what fits, and is not asked to check what is missing', async () => {
    const { decide } = conductor('a >> b', { a: { onError: 'skip' }, b: { accepts: { type: 'object' } } });
    for (const end of [ended('a', { price: 3 }), ended('a', failed), skipped('a')])
      expect(await decide(view([end]))).toMatchObject({ calls: [{ name: 'b', input: { do: 'run' } }] });
  });

  it('a schema that cannot be read is told when the flow is made', () => {
    expect(() => conductor('a >> b', { b: { accepts: { type: 'objekt' } } })).toThrow(
      '"accepts" of the node "b"',
    );
  });
});

describe('the answer of a flow', () => {
  it.each([
    { what: 'skipped', end: skipped('b'), why: '"b": no' },
    {
      what: 'failed and may be done without',
      end: ended('b', failed),
      why: '"b": it failed with RATE_LIMITED',
    },
  ])('is a failure where its last node was $what', async ({ end, why }) => {
    const step = await conductor('a >> b', { b: { onError: 'skip' } }).decide(view([ended('a', 'x'), end]));
    expect(step).toMatchObject({
      type: 'fail',
      failure: {
        code: 'EMPTY_RESPONSE',
        origin: 'flow',
        retryable: false,
        message: `The flow "f" has no result, because "b" gave none (${why})`,
      },
    });
  });

  it('is sought once more from those that failed when a flow without one is gone on with', async () => {
    const { decide } = conductor('a | b | c', {
      a: { onError: 'skip' },
      b: { onError: { fallback: 'spare' } },
      spare: { onError: 'skip' },
    });
    const calls = [ended('a', failed), ended('b', failed), skipped('c'), ended('spare', failed)];
    expect(await decide(view(calls, { resumes: 1 }))).toEqual({
      type: 'call',
      calls: [
        { name: 'a', input: { do: 'run' } },
        { name: 'spare', input: { do: 'run' } },
      ],
    });
  });

  it('is that of its one last node', async () => {
    const step = await conductor('a >> b').decide(view([ended('a', 'x'), ended('b', { price: 3 })]));
    expect(step).toEqual({ type: 'answer', text: '{"price":3}', output: { price: 3 } });
  });

  it('has a section for each of several last nodes, and says which is missing', async () => {
    const { decide } = conductor('a | b | c', { b: { onError: 'skip' } });
    const step = await decide(view([ended('a', 'x'), ended('b', failed), ended('c', { price: 3 })]));
    expect(step).toEqual({
      type: 'answer',
      text: '## a\n\nx\n\n## b\n\n(No result: it failed with RATE_LIMITED.)\n\n## c\n\n{"price":3}',
      output: { a: 'x', c: { price: 3 } },
    });
  });

  it('is the text of the only one that was chosen', async () => {
    const step = await conductor('a >> (b | c)').decide(
      view([ended('a', 'x'), skipped('b'), ended('c', 'y')]),
    );
    expect(step).toEqual({ type: 'answer', text: 'y', output: { c: 'y' } });
  });
});

describe('a flow', () => {
  it('calls at most 64 nodes in one step, and then the others', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const { decide } = conductor(names.join('|'));
    const first = callsOf(await decide(view([])));
    expect(first).toEqual(names.slice(0, 64));
    const second = await decide(view(first.map((name) => ended(name, 'x'))));
    expect(callsOf(second)).toEqual(names.slice(64));
  });

  it('of any graph does each node once, after those before it, and answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { minLength: 1, maxLength: 30 }),
        fc.array(fc.constantFrom('ok', 'failed', 'skipped'), { minLength: 12, maxLength: 12 }),
        async (pairs, ends) => {
          const edges = pairs
            .filter(([one, other]) => one !== other)
            .map(([one, other]): FlowEdge => [`n${Math.min(one, other)}`, `n${Math.max(one, other)}`]);
          fc.pre(edges.length > 0);
          const agents = ends.map((_, index) => `n${index}`);
          const inFlow = new Set(edges.flat());
          const nodes = Object.fromEntries(
            [...inFlow].map((name): [string, NodeOptions] => [
              name,
              { onError: 'skip', when: () => ends[Number(name.slice(1))] !== 'skipped' },
            ]),
          );
          const graph = createGraph({ name: 'f', edges, agents, nodes });
          const { decide, report } = bounded(createFlowConductor(graph, nodes));
          const calls: RecordedCall[] = [];
          let step = await decide(view(calls));
          for (let round = 0; round < 20 && step.type === 'call'; round += 1) {
            const done = new Set(calls.map(({ name }) => name));
            for (const { name, input } of step.calls) {
              expect(done).not.toContain(name);
              for (const [from] of edges.filter(([, to]) => to === name)) expect(done).toContain(from);
              const end = ended(name, ends[Number(name.slice(1))] === 'failed' ? failed : 'x');
              calls.push({ ...end, input });
            }
            step = await decide(view(calls));
          }
          expect(new Set(calls.map(({ name }) => name))).toEqual(inFlow);
          expect(calls).toHaveLength(inFlow.size);
          const isAnswered = graph.last.some((name) => ends[Number(name.slice(1))] === 'ok');
          expect(step.type).toBe(isAnswered ? 'answer' : 'fail');
          expect(
            report(view(calls), { type: 'failed' } as never).map(({ name, status }) => [name, status]),
          ).toEqual(graph.nodes.map(({ name }) => [name, statuses[ends[Number(name.slice(1))] ?? 'ok']]));
        },
      ),
    );
  });
});

describe('the report of a flow', () => {
  const suspended = { type: 'suspended', reason: 'approval', request: { why: 'may it pay?' } } as never;

  it.each([
    {
      what: 'a failure, with what it came to',
      calls: [ended('a', failed), ended('spare', 'x'), ended('b', failed), ended('c', failed)],
      outcome: { type: 'failed' } as never,
      nodes: [
        { name: 'a', status: 'failed', runId: 'run/a', failure, reason: '"spare" took its place' },
        { name: 'b', status: 'failed', runId: 'run/b', failure, reason: 'the flow continued without it' },
        { name: 'c', status: 'failed', runId: 'run/c', failure },
        { name: 'd', status: 'not-reached' },
        { name: 'spare', status: 'succeeded', runId: 'run/spare', text: 'x', reason: 'in place of "a"' },
      ],
    },
    {
      what: 'what waits, and for what',
      calls: [ended('a', { price: 3 }), begun('b'), skipped('c')],
      outcome: suspended,
      nodes: [
        { name: 'a', status: 'succeeded', runId: 'run/a', text: '{"price":3}', output: { price: 3 } },
        { name: 'b', status: 'waiting', runId: 'run/b', reason: 'may it pay?' },
        { name: 'c', status: 'skipped', reason: 'no' },
        { name: 'd', status: 'not-reached' },
      ],
    },
    {
      what: 'what waits in a later life, by the run that it goes on with',
      calls: [ended('a', { ...failed, childId: 'run/a~2' }), begun('a')],
      outcome: suspended,
      nodes: [
        { name: 'a', status: 'waiting', runId: 'run/a~2', reason: 'may it pay?' },
        { name: 'b', status: 'not-reached' },
        { name: 'c', status: 'not-reached' },
        { name: 'd', status: 'not-reached' },
      ],
    },
    {
      what: 'what was broken off',
      calls: [ended('a', 'x'), begun('b'), ended('c', { status: 'interrupted' })],
      outcome: { type: 'cancelled' } as never,
      nodes: [
        { name: 'a', status: 'succeeded', runId: 'run/a', text: 'x' },
        { name: 'b', status: 'cancelled', runId: 'run/b' },
        { name: 'c', status: 'cancelled', runId: 'run/c', reason: 'it was broken off' },
        { name: 'd', status: 'not-reached' },
      ],
    },
  ])('says $what', ({ calls, outcome, nodes }) => {
    const { report } = conductor('(a | b | c) >> d', {
      a: { onError: { fallback: 'spare' } },
      b: { onError: 'skip' },
    });
    expect(report(view(calls), outcome)).toEqual(nodes);
  });
});

const statuses = { ok: 'succeeded', failed: 'failed', skipped: 'skipped' };

/** With bounds that nothing in these tests comes near. */
type Bounded = Omit<Conductor, 'decide'> & {
  readonly decide: (view: ConductorView) => ReturnType<Conductor['decide']>;
};

function conductor(text: string, nodes: Nodes = {}): Bounded {
  const shape = readFlow(text);
  const agents = [...text.matchAll(/\w+/g)].map(([name]) => name);
  const graph = createGraph({ name: 'f', shape, agents: [...agents, 'spare', 'sparest'], nodes });
  return bounded(createFlowConductor(graph, nodes));
}

function bounded(made: Conductor): Bounded {
  const { signal } = new AbortController();
  const decide: Bounded['decide'] = (given) =>
    made.decide(given, { clock: simulatedClock(), signal, strayErrors: 'report' });
  return { ...made, decide };
}

/** One after the other, where nobody says that they were made side by side. */
function view(given: readonly RecordedCall[], { resumes = 0 } = {}): ConductorView {
  const calls = given.map((call, index) => (call.round === 0 ? { ...call, round: index + 1 } : call));
  return { runId: 'run', task: [{ role: 'user', content: 'Do it.' }], calls, resumes };
}

/** Made at once, after all others. */
function together(...calls: readonly RecordedCall[]): readonly RecordedCall[] {
  return calls.map((call) => ({ ...call, round: 1000 }));
}

function begun(name: string): RecordedCall {
  return { callId: `call-${name}`, name, input: { do: 'run' }, round: 0 };
}

/** A text or an output is what a run came to; a record stands for itself. */
function ended(
  name: string,
  end: string | { price?: number; cost?: number } | Partial<CallRecord>,
): RecordedCall {
  const isRecorded = typeof end === 'object' && 'status' in end;
  const child = typeof end === 'string' ? { text: end } : { text: JSON.stringify(end), output: end };
  const record: Partial<CallRecord> = isRecorded ? end : { status: 'ok', content: JSON.stringify(child) };
  return { ...begun(name), record: { status: 'ok', resumes: 0, childId: `run/${name}`, ...record } };
}

function skipped(name: string): RecordedCall {
  return { ...ended(name, { status: 'ok' }), input: { do: 'skip', reason: 'no' } };
}

function callsOf(step: ConductorStep): readonly string[] {
  return step.type === 'call' ? step.calls.map(({ name }) => name) : [];
}
