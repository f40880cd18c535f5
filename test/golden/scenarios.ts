import { tool } from '../../src/index.ts';
import type { Hook, Tool } from '../../src/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import { anyInput, call, createWorld, look, pay, payOnce, runId } from './world.ts';
import type { Lived, Options, PayOptions, World } from './world.ts';

// Runs that were lived through once and are kept for ever, as bundles beside this file. Each is told here as it was recorded.

export interface Scenario {
  readonly name: string;
  readonly live: () => Promise<Lived>;
}

async function plainAnswer(): Promise<Lived> {
  const world = createWorld();
  return world.run(world.agent(['Good morning.']));
}

async function parallelTools(): Promise<Lived> {
  const world = createWorld();
  const script = [call('look', { at: 1 }, { at: 2 }, { at: 3 }), call('pay', { cents: 5 }), 'All found.'];
  return world.run(world.agent(script, { tools: [look(), pay()] }));
}

async function retryWithWaits(): Promise<Lived> {
  const world = createWorld();
  const script: readonly ScriptStep[] = [
    { failure: 'RATE_LIMITED' },
    { failure: 'OVERLOADED' },
    { brokenAfter: 'Half an ' },
    'A whole answer.',
  ];
  return world.run(world.agent(script));
}

async function exhausted(): Promise<Lived> {
  const world = createWorld();
  const script = Array.from({ length: 8 }, (): ScriptStep => ({ failure: 'SERVER_ERROR' }));
  return world.run(world.agent(script));
}

async function approvalOverRestart(): Promise<Lived> {
  const world = createWorld();
  const tools = [pay({ permission: 'ask' })];
  const handle = world.store.reopen();
  await world.run(world.agent([payOnce], { tools }, handle));
  handle.kill();
  return world.resume(world.agent([payOnce], { tools }), { answer: true });
}

async function approvalOpen(): Promise<Lived> {
  const world = createWorld();
  return world.run(world.agent([payOnce], { tools: [pay({ permission: 'ask' })] }));
}

async function approvalByCallback(): Promise<Lived> {
  const world = createWorld();
  const options: Options = {
    tools: [pay({ permission: 'ask' })],
    callbacks: { onApproval: () => ({ approved: false, reason: 'too much' }) },
  };
  return world.run(world.agent([payOnce, 'Not paid.'], options));
}

/** The process dies when the money is gone and nothing is written of it. */
async function dieWhilePaying(world: World, options: PayOptions): Promise<Tool> {
  const handle = world.store.reopen();
  const tools = [pay({ ...options, onPaid: () => handle.kill() })];
  void world.agent([payOnce], { tools }, handle).run('Pay 5 cents', { runId });
  await world.clock.runAll();
  return pay(options);
}

async function inDoubtVerified(): Promise<Lived> {
  const world = createWorld();
  const again = await dieWhilePaying(world, { verify: () => ({ happened: true, result: 'paid, no. 7' }) });
  return world.resume(world.agent([payOnce, payOnce], { tools: [again] }));
}

async function inDoubtAsked(): Promise<Lived> {
  const world = createWorld();
  const again = await dieWhilePaying(world, {});
  await world.resume(world.agent([payOnce], { tools: [again] }));
  return world.resume(world.agent([payOnce, payOnce], { tools: [again] }), {
    answer: { happened: true, result: 'It is on the statement' },
  });
}

async function structuredOutput(): Promise<Lived> {
  const world = createWorld();
  const output = {
    type: 'object',
    properties: { cents: { type: 'integer' } },
    required: ['cents'],
    additionalProperties: false,
  } as const;
  return world.run(world.agent(['five', '{"cents":"5"}', '```json\n{"cents":5}\n```'], { output }));
}

async function cancelledInWait(): Promise<Lived> {
  const world = createWorld();
  const agent = world.agent([{ failure: 'OVERLOADED' }, 'Too late.']);
  world.clock.after(500, () => void agent.cancel(runId, 'nobody wants it any more'));
  return world.run(agent);
}

async function cancelledInTool(): Promise<Lived> {
  const world = createWorld();
  const slow = tool({
    name: 'look',
    description: 'Looks slowly.',
    input: anyInput,
    effect: 'read',
    execute: () => new Promise(() => undefined),
  });
  const agent = world.agent([call('look', { at: 1 }, { at: 2 })], { tools: [slow] });
  world.clock.after(50, () => void agent.cancel(runId));
  return world.run(agent);
}

async function cancelledThenResumed(): Promise<Lived> {
  const world = createWorld();
  const agent = world.agent([{ text: 'Too late.', delayMs: 1000 }]);
  world.clock.after(50, () => void agent.cancel(runId));
  await world.run(agent);
  return world.resume(world.agent(['In time.']));
}

/** More steps than one journal holds: the run goes on in a second one. */
async function longRun(): Promise<Lived> {
  const world = createWorld();
  const turns = 510;
  const script = Array.from({ length: turns }, (_, at): ScriptStep =>
    at === turns - 1 ? 'That was long.' : call('look', { at }),
  );
  return world.run(world.agent(script, { tools: [look()], limits: { maxTurns: 1000, maxToolCalls: 1000 } }));
}

async function hooks(): Promise<Lived> {
  const world = createWorld();
  const list: readonly Hook[] = [
    {
      name: 'polite',
      kind: 'transformer',
      on: {
        'run-start': ({ input }) => ({
          action: 'modify',
          messages: [...input, { role: 'user', content: 'Please.' }],
        }),
        'before-model': ({ turn }) =>
          turn === 1 ? { action: 'modify', instructions: 'You are a polite clerk.' } : undefined,
        'before-tool': ({ call: { name } }) =>
          name === 'look' ? { action: 'modify', input: { at: 2 } } : undefined,
        'after-tool': ({ end }) =>
          end.type === 'ok' ? { action: 'modify', content: 'found something' } : undefined,
        'after-model': ({ result }) =>
          result.toolCalls.length === 0 ? { action: 'modify', text: `${result.text} Yours.` } : undefined,
      },
    },
    {
      name: 'no-secrets',
      kind: 'guardrail',
      on: {
        'before-tool': ({ call: { name } }) =>
          name === 'pay' ? { action: 'halt', reason: 'Nothing is paid here' } : undefined,
        'after-tool': () => undefined,
      },
    },
  ];
  const script = [call('look', { at: 1 }), call('pay', { cents: 1 }), 'Done.'];
  return world.run(world.agent(script, { tools: [look(), pay()], hooks: list }));
}

async function hookStandsIn(): Promise<Lived> {
  const world = createWorld();
  const list: readonly Hook[] = [
    {
      name: 'cache',
      kind: 'transformer',
      on: { 'before-model': () => ({ action: 'skip', text: '{"cents":7}' }) },
    },
  ];
  const output = { type: 'object', properties: { cents: { type: 'integer' } } } as const;
  return world.run(world.agent([], { hooks: list, output }));
}

async function hookHalts(): Promise<Lived> {
  const world = createWorld();
  const list: readonly Hook[] = [
    {
      name: 'closed',
      kind: 'guardrail',
      on: { 'run-start': () => ({ action: 'halt', reason: 'We are closed' }) },
    },
  ];
  return world.run(world.agent(['Never said.'], { hooks: list }));
}

async function hookForbidden(): Promise<Lived> {
  const world = createWorld();
  const list: readonly Hook[] = [
    {
      name: 'elsewhere',
      kind: 'transformer',
      on: {
        'before-tool': ({ turn }) => (turn < 3 ? { action: 'modify', input: { at: 10 + turn } } : undefined),
      },
    },
  ];
  const options: Options = {
    tools: [look()],
    hooks: list,
    policy: {
      permissions: [{ tool: 'look', input: { at: { over: 11 } }, permission: 'deny', why: 'too far' }],
    },
  };
  const script = [call('look', { at: 1 }), call('look', { at: 2 }), call('look', { at: 3 }), 'Done.'];
  return world.run(world.agent(script, options));
}

async function cancelledBefore(): Promise<Lived> {
  const { store, clock, agent } = createWorld();
  const running = agent(['Never said.']).run('Go on', { runId, signal: AbortSignal.abort() });
  return { store, runId, outcome: await clock.runUntil(running) };
}

async function cancelledWhileAsked(): Promise<Lived> {
  const world = createWorld();
  const tools = [pay({ permission: 'ask' })];
  await world.run(world.agent([payOnce], { tools }));
  const other = world.agent([], { tools });
  await world.clock.runUntil(other.cancel(runId, 'asked too long'));
  const { outcome } = await lastOutcome(world, tools);
  return { store: world.store, runId, outcome };
}

/** Of a run that has ended, as anybody is given it who runs it again. */
function lastOutcome(world: World, tools: readonly Tool[]): Promise<Lived> {
  return world.run(world.agent([], { tools }));
}

async function maxTurns(): Promise<Lived> {
  const world = createWorld();
  const script = [call('look', { at: 1 }), call('look', { at: 2 }), 'That is as far as I got.'];
  return world.run(world.agent(script, { tools: [look()], limits: { maxTurns: 2 } }));
}

async function loop(): Promise<Lived> {
  const world = createWorld();
  const script = Array.from({ length: 40 }, () => call('look', { at: 1 }));
  return world.run(world.agent(script, { tools: [look()], policy: { salvage: false } }));
}

async function rejected(): Promise<Lived> {
  const world = createWorld();
  const options: Options = {
    tools: [pay({ permission: 'ask' })],
    callbacks: { onApproval: () => false },
    policy: { salvage: false },
  };
  const script = Array.from({ length: 10 }, () => call('pay', { cents: 5 }));
  return world.run(world.agent(script, options));
}

async function injected(): Promise<Lived> {
  const world = createWorld();
  const agent = world.agent([{ text: 'Nearly.', delayMs: 1000 }, 'Heard you.']);
  world.clock.after(500, () => void agent.inject(runId, 'One more thing'));
  return world.run(agent);
}

async function toolFailures(): Promise<Lived> {
  const world = createWorld();
  let calls = 0;
  const flaky = tool({
    name: 'look',
    description: 'Looks, now and then.',
    input: anyInput,
    effect: 'read',
    execute: (_input, { fail }) => {
      calls += 1;
      return calls < 3 ? fail('The line is down', { code: 'NETWORK_ERROR', retryable: true }) : 'found';
    },
  });
  const script = [call('look', { at: 1 }), call('nothing', { at: 1 }), 'Found.'];
  return world.run(world.agent(script, { tools: [flaky] }));
}

/** A conversation that outgrows the window, before it is sent. */
async function compacted(): Promise<Lived> {
  const world = createWorld();
  const wordy = tool({
    name: 'look',
    description: 'Looks, and tells at length.',
    input: anyInput,
    effect: 'read',
    execute: (input) => `${JSON.stringify(input)}: ${'and so on '.repeat(150)}`,
  });
  const script = [...Array.from({ length: 6 }, (_, at) => call('look', { at })), 'Done.'];
  const context = { maxTokens: 2000, reserveTokens: 200 };
  return world.run(world.agent(script, { tools: [wordy], context }));
}

/** A provider that refuses a conversation as too long. */
async function overflow(): Promise<Lived> {
  const world = createWorld();
  const script: readonly ScriptStep[] = [
    call('look', { at: 1 }),
    call('look', { at: 2 }),
    call('look', { at: 3 }),
    call('look', { at: 4 }),
    { failure: 'CONTEXT_LENGTH_EXCEEDED' },
    'It fits now.',
  ];
  return world.run(world.agent(script, { tools: [look()] }));
}

export const scenarios: readonly Scenario[] = [
  { name: 'plain-answer', live: plainAnswer },
  { name: 'parallel-tools', live: parallelTools },
  { name: 'retry-with-waits', live: retryWithWaits },
  { name: 'exhausted', live: exhausted },
  { name: 'approval-over-restart', live: approvalOverRestart },
  { name: 'approval-open', live: approvalOpen },
  { name: 'approval-by-callback', live: approvalByCallback },
  { name: 'in-doubt-verified', live: inDoubtVerified },
  { name: 'in-doubt-asked', live: inDoubtAsked },
  { name: 'structured-output', live: structuredOutput },
  { name: 'cancelled-in-wait', live: cancelledInWait },
  { name: 'cancelled-in-tool', live: cancelledInTool },
  { name: 'cancelled-then-resumed', live: cancelledThenResumed },
  { name: 'long-run', live: longRun },
  { name: 'hooks', live: hooks },
  { name: 'hook-stands-in', live: hookStandsIn },
  { name: 'hook-halts', live: hookHalts },
  { name: 'hook-forbidden', live: hookForbidden },
  { name: 'cancelled-before', live: cancelledBefore },
  { name: 'cancelled-while-asked', live: cancelledWhileAsked },
  { name: 'max-turns', live: maxTurns },
  { name: 'loop', live: loop },
  { name: 'rejected', live: rejected },
  { name: 'injected', live: injected },
  { name: 'tool-failures', live: toolFailures },
  { name: 'compacted', live: compacted },
  { name: 'overflow', live: overflow },
];
