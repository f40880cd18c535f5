import { describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { Hook, RunEvent } from '../../src/index.ts';
import { createGates } from '../../src/model/index.ts';
import { scriptedModel, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptEntry } from '../../src/testing/index.ts';

// What people do who have not read everything: each of these once hung, killed the process or got past a rule.

const broken = (): Promise<void> => Promise.reject(new Error('The pager is down'));
const callA = (n: number): ScriptEntry => ({ toolCalls: [{ name: 'a', arguments: { n } }] });
const seen: unknown[] = [];
const a = tool({
  name: 'a',
  description: 'Takes a number.',
  input: { type: 'object', properties: { n: { type: 'number' } } },
  execute: (input) => {
    seen.push({ ...input });
    return 'done';
  },
});

describe('a callback', () => {
  it('that rejects touches neither the run nor the process', async () => {
    const callbacks = { onEvent: broken, onDebug: broken, onError: broken, onRetry: broken };
    const events: RunEvent[] = [];
    const agent = createAgent({ model: scriptedModel([{ failure: 'INVALID_REQUEST' }]), callbacks });
    const outcome = await agent.run('Go', { onEvent: (event) => void events.push(event) });
    expect(outcome.type).toBe('failed');
    await new Promise((resolve) => setImmediate(resolve));
    expect(events.filter(({ type }) => type === 'hook-failed').length).toBeGreaterThan(0);
  });

  it('that throws does not silence another', async () => {
    const told: string[] = [];
    const callbacks = {
      onDebug: () => {
        throw new Error('The log is full');
      },
      onError: () => void told.push('pager'),
    };
    await createAgent({ model: scriptedModel([{ failure: 'INVALID_REQUEST' }]), callbacks }).run('Go');
    expect(told).toEqual(['pager']);
  });
});

describe('a schema that never comes to an end', () => {
  const never = {
    '~standard': { version: 1, vendor: 'none', validate: () => new Promise<never>(() => undefined) },
  } as const;
  const ways = [
    {
      what: 'of a tool',
      make: (clock: ReturnType<typeof simulatedClock>) =>
        createAgent({
          model: scriptedModel([{ toolCalls: [{ name: 'slow' }] }, 'Done.']),
          tools: [
            tool({
              name: 'slow',
              description: 'Never checked.',
              input: never,
              parameters: { type: 'object' },
              execute: () => 1,
            }),
          ],
          clock,
          gates: createGates({ clock }),
        }),
    },
  ];
  it.each(ways)('$what ends the run, typed', async ({ make }) => {
    const clock = simulatedClock();
    expect(await clock.runUntil(make(clock).run('Go'))).toMatchObject({
      type: 'failed',
      failure: { code: 'TIMEOUT' },
    });
  });
});

describe('what a run hands out', () => {
  it('cannot be changed between a yes and the call', async () => {
    seen.length = 0;
    const agent = createAgent({
      model: scriptedModel([callA(1), 'Done.']),
      tools: [a],
      policy: { permissions: [{ tool: 'a', permission: 'ask' }] },
    });
    const waiting = await agent.run('Go');
    const input = (waiting as { readonly request?: { readonly input: { n: number } } }).request?.input;
    expect(() => {
      if (input !== undefined) input.n = 55;
    }).toThrow(TypeError);
    await agent.resume(waiting.runId, { answer: true });
    expect(seen).toEqual([{ n: 1 }]);
  });

  it('is not what the caller holds: neither his messages nor the outcome’s', async () => {
    const model = scriptedModel([{ failure: 'INVALID_REQUEST' }, 'Done.']);
    const agent = createAgent({ model });
    const messages = [{ role: 'user', content: 'Go' }] as { role: 'user'; content: string }[];
    const running = agent.run(messages);
    messages.length = 0;
    const outcome = await running;
    (outcome.messages as unknown[]).length = 0;
    expect(await agent.resume(outcome.runId)).toMatchObject({ type: 'completed' });
    expect(model.calls.map(({ request }) => request.messages.length)).toEqual([1, 1]);
  });

  it('is new for every attempt of a tool that changes its input', async () => {
    const inputs: string[] = [];
    const eater = tool({
      name: 'a',
      description: 'Eats its input.',
      input: { type: 'object', properties: { list: { type: 'array' } } },
      effect: 'read',
      execute: (input, { fail }) => {
        inputs.push(JSON.stringify(input));
        delete (input as Record<string, unknown>)['list'];
        return inputs.length < 3 ? fail('busy', { code: 'SERVER_ERROR', retryable: true }) : 'done';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'a', arguments: { list: [1] } }] }, 'Done.']);
    await createAgent({ model, tools: [eater], policy: { retry: { baseDelayMs: 1, minDelayMs: 1 } } }).run(
      'Go',
    );
    expect(inputs).toEqual(['{"list":[1]}', '{"list":[1]}', '{"list":[1]}']);
  });
});

describe('a transformer', () => {
  it.each(['deny', 'ask'] as const)('does not walk past a rule that says %s', async (permission) => {
    seen.length = 0;
    const raise: Hook = {
      name: 'raise',
      kind: 'transformer',
      on: { 'before-tool': () => ({ action: 'modify', input: { n: 1000 } }) },
    };
    const agent = createAgent({
      model: scriptedModel([callA(1), 'Done.']),
      tools: [a],
      hooks: [raise],
      policy: { permissions: [{ tool: 'a', input: { n: { over: 10 } }, permission }] },
    });
    expect(await agent.run('Go')).toMatchObject({ type: 'completed' });
    expect(seen).toEqual([]);
  });
});

describe('a stream', () => {
  it('lets two read at once, and a reader go while it waits', async () => {
    const agent = createAgent({ model: scriptedModel([{ text: 'Hello there.', delayMs: 5 }]) });
    const stream = agent.stream('Go');
    const readers = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()];
    const read = async (reader: AsyncIterator<RunEvent>): Promise<number> => {
      let count = 0;
      while ((await reader.next()).done !== true) count += 1;
      return count;
    };
    const counts = await Promise.all(readers.map(read));
    expect(counts[0]).toBeGreaterThan(0);
    const other = agent.stream('Go')[Symbol.asyncIterator]();
    const pending = Promise.all([other.next(), other.next(), other.next(), other.next(), other.next()]);
    await other.return?.();
    expect(await pending).toHaveLength(5);
  });
});

describe('a run that cannot begin', () => {
  it('ends typed, and does not block its name', async () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    const agent = createAgent({ model: scriptedModel(['Hello.'], { repeat: 'last' }) });
    expect(await agent.run(proxy as never, { runId: 'one' })).toMatchObject({
      type: 'failed',
      failure: { code: 'CONFIG_ERROR' },
    });
    expect(await agent.run('Go', { runId: 'two' })).toMatchObject({ type: 'completed' });
  });

  it('can be gone on with as soon as it is cancelled', async () => {
    const agent = createAgent({
      model: scriptedModel([{ failure: 'QUOTA_EXCEEDED' }, 'Paid.']),
    });
    const { runId } = await agent.run('Go');
    await agent.cancel(runId);
    expect(await agent.resume(runId)).toMatchObject({ type: 'completed', text: 'Paid.' });
  });
});

describe('misuse is told with the field and the way out', () => {
  const model = scriptedModel(['Hello.']);
  it.each([
    [{}, /"model"/],
    [{ model, tools: { a } }, /"tools" of createAgent\(\) must be a list of tools, each made with tool/],
    [{ model, tools: [null] }, /"tools" of createAgent\(\) must be a list/],
    [{ model, tools: [{ name: 'a', description: 'x', execute: () => 1 }] }, /made with tool/],
    [{ model, clock: {} }, /"clock" of createAgent\(\) must be a clock/],
    [{ model, random: 4 }, /"random"/],
    [{ model, gates: {} }, /"gates"/],
    [{ model, settings: null }, /"settings"/],
    [{ model, settings: { messages: [] } }, /"messages" is no setting/],
    [{ model, policy: { retry: 3 } }, /"retry"/],
    [{ model, policy: { retry: { attempts: 3 } } }, /"attempts"/],
    [{ model, policy: { timeouts: { total: 1 } } }, /"total"/],
    [{ model, policy: { inDoubt: 'perhaps' } }, /"inDoubt" of "policy" must be "ask" or "tell"/],
    [{ model, policy: { loop: { nudgAt: 1 } } }, /did you mean "nudgeAt"/],
    [{ model, policy: { loop: { stopAt: -1 } } }, /whole number above 0/],
    [{ model, store: 'x' }, /"store" of createAgent\(\) must be a store, such as sqlite/],
  ])('%o', (options, message) => {
    expect(() => createAgent(options as never)).toThrow(message);
  });

  it('asynchronously where a promise is promised', async () => {
    const agent = createAgent({ model });
    await expect(agent.resume(undefined as never)).rejects.toThrow(/A run is named by the text/);
    await expect(agent.cancel('unknown')).rejects.toThrow(/There is no run "unknown"/);
    await expect(agent.run('Go', { signal: { aborted: false } as never })).rejects.toThrow(/AbortSignal/);
  });
});
