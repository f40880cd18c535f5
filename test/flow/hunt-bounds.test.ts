import { describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import { calling, expectType } from '../agent/scene.ts';
import { agentsOf, callsOf, member, refused, setStage, statusesIn } from './stage.ts';

// What bounds and unusual names may do to several agents.

describe('more nodes side by side than a step may call', () => {
  it('are called in several steps, and none is refused', async () => {
    const { bare, run } = setStage();
    const members = { a: member(['A']), b: member(['B']), c: member(['C']), d: member(['D']) };
    const limits = { maxCallsPerTurn: 2 };
    const ended = await run(flow('(a | b | c) >> d', { agents: agentsOf(members), limits, ...bare }));
    expect(ended).toMatchObject({ type: 'completed', text: 'D' });
    expect(callsOf(members)).toEqual({ a: 1, b: 1, c: 1, d: 1 });
  });
});

describe('nodes that are called as every object has something', () => {
  it('are counted like any others', async () => {
    const { bare, run } = setStage();
    const members = { constructor: member(['A']), toString: member([refused]) };
    const made = flow('constructor >> toString', { agents: agentsOf(members), ...bare });
    const ended = expectType(await run(made), 'failed');
    expect(statusesIn(ended)).toEqual({ constructor: 'succeeded', toString: 'failed' });
    const rows = ended.report.developer.text.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(rows).toContainEqual(['constructor', 'a node', '1', '0']);
    expect(rows).toContainEqual(['toString', 'a node', '0', '1']);
  });
});

describe('a hand-off with a reason as long as a book', () => {
  it('is made, and the next one is told the beginning of it', async () => {
    const { bare, run } = setStage();
    const reason = `It is about money. ${'And so on. '.repeat(50_000)}`;
    const members = { a: member([calling('hand_off', { to: 'b', reason })]), b: member(['Done.']) };
    const ended = await run(handOff({ agents: agentsOf(members), start: 'a', ...bare }));
    expect(ended).toMatchObject({ type: 'completed', text: 'Done.' });
    const told = JSON.stringify(members.b.model.calls[0]?.request.messages.at(-1));
    expect(told).toContain('It is about money.');
    expect(told.length).toBeLessThan(2000);
    expect(ended.nodes?.[0]?.reason?.length).toBeLessThan(2000);
  });
});
