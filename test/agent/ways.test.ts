import { describe, expect, it } from 'vitest';
import { RerailError } from '../../src/index.ts';
import type { RunEvent, RunOutcome } from '../../src/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import { calling, eventsOf, plainTool, setScene, watchEverything } from './scene.ts';
import type { SceneOptions } from './scene.ts';

watchEverything();

const look = plainTool({ name: 'look', effect: 'read', execute: () => 'seen' });
const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });

interface Row {
  readonly type: RunOutcome['type'];
  readonly script: readonly ScriptStep[];
  readonly options?: Partial<SceneOptions>;
  readonly code?: string;
  readonly signal?: AbortSignal;
}

const rows: readonly Row[] = [
  { type: 'failed', script: [{ failure: 'INVALID_REQUEST' }], code: 'INVALID_REQUEST' },
  {
    type: 'stopped',
    script: [calling('look')],
    options: { limits: { maxTurns: 1 }, policy: { salvage: false } },
    code: 'MAX_ITERATIONS_EXCEEDED',
  },
  { type: 'suspended', script: [{ failure: 'QUOTA_EXCEEDED' }], code: 'QUOTA_EXCEEDED' },
  { type: 'suspended', script: [calling('pay')] },
  { type: 'cancelled', script: [], signal: AbortSignal.abort(), code: 'CANCELLED' },
];

describe('a run that is not completed', () => {
  it.each(rows)('($type, $code) is thrown by runOrThrow() as a typed error', async (row) => {
    const { agent, clock } = setScene({ tools: [look, pay], script: row.script, ...row.options });
    const given = row.signal === undefined ? {} : { signal: row.signal };
    const thrown: unknown = await clock.runUntil(
      agent.runOrThrow('Do it.', given).then(
        () => 'nothing',
        (error: unknown) => error,
      ),
    );
    expect(RerailError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject(row.code === undefined ? {} : { code: row.code });
  });

  it.each(rows)('($type, $code) is words for a person in ask()', async (row) => {
    const { agent, clock } = setScene({ tools: [look, pay], script: row.script, ...row.options });
    const text = await clock.runUntil(
      agent.ask('Do it.', row.signal === undefined ? {} : { signal: row.signal }),
    );
    expect(text.trim()).not.toBe('');
    expect(text).not.toContain('_');
  });
});

describe('misuse', () => {
  it.each([
    { what: 'an unknown option', options: { sinal: AbortSignal.abort() }, says: /did you mean "signal"/ },
    {
      what: 'a controller in the place of a signal',
      options: { signal: new AbortController() },
      says: /AbortSignal/,
    },
    { what: 'an empty id', options: { runId: '' }, says: /runId/ },
    { what: 'a listener that is none', options: { onEvent: 'log' }, says: /onEvent/ },
  ])('of run() by $what is refused, and nobody is asked', async ({ options, says }) => {
    const { agent, model } = setScene({ script: ['Never.'] });
    await expect(agent.run('Do it.', options as never)).rejects.toThrow(says);
    expect(() => agent.stream('Do it.', options as never)).toThrow(says);
    expect(model.calls).toHaveLength(0);
  });
});

describe('many runs of one agent', () => {
  it('keep apart what belongs to each', async () => {
    const echo = plainTool({ name: 'echo', effect: 'read', execute: (_input, { runId }) => `for ${runId}` });
    const heard = new Map<string, RunEvent[]>();
    const { agent, clock } = setScene({
      tools: [echo],
      script: (request) => {
        const [asked] = request.messages;
        return request.messages.length === 1
          ? calling('echo')
          : `Answer to ${JSON.stringify(asked?.content)}`;
      },
    });
    const runs = Array.from({ length: 100 }, (_, index) => {
      const runId = `run-${index}`;
      const events: RunEvent[] = [];
      heard.set(runId, events);
      return agent.run(`question ${index}`, { runId, onEvent: (event) => void events.push(event) });
    });
    const outcomes = await clock.runUntil(Promise.all(runs));
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome).toMatchObject({
        type: 'completed',
        runId: `run-${index}`,
        text: `Answer to "question ${index}"`,
      });
      expect(JSON.stringify(outcome.messages)).toContain(`for run-${index}"`);
      expect(eventsOf(heard.get(`run-${index}`) ?? [], 'run-finished')).toEqual([
        { type: 'run-finished', outcome },
      ]);
    }
  });
});
