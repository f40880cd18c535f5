import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import { calling, expectType, plainTool } from '../agent/scene.ts';
import { agentsOf, member, refused, setStage } from './stage.ts';

// What people are told of several agents that did not come to an end.

const linesOf = (text: string): readonly string[] => text.split('\n').map((line) => line.trim());

async function failedFlow(): Promise<Extract<RunOutcome, { type: 'failed' }>> {
  const { bare, run } = setStage();
  const members = { plan: member(['A plan']), costs: member([refused]), law: member([]), end: member([]) };
  const nodes = { law: { when: () => false } };
  const outcome = await run(
    flow('plan >> (costs | law) >> end', { agents: agentsOf(members), nodes, ...bare }),
  );
  return expectType(outcome, 'failed');
}

describe('the report on a flow that failed', () => {
  it('tells a person which node it was, and nothing of those that were skipped or not reached', async () => {
    const { report } = await failedFlow();
    const lines = linesOf(report.person.text);
    expect(lines).toContain('- plan: once. What it finished is on its own record');
    expect(report.person.text).toContain('It was its node "costs" that failed.');
    expect(report.person.text).not.toMatch(/law|end:|may have changed/);
  });

  it('tells a developer how often each node went well and failed', async () => {
    const { report } = await failedFlow();
    const rows = linesOf(report.developer.text).map((line) => line.split(/ {2,}/));
    expect(rows).toContainEqual(['name', 'effect', 'succeeded', 'failed in a row at the end']);
    expect(rows).toContainEqual(['plan', 'a node', '1', '0']);
    expect(rows).toContainEqual(['costs', 'a node', '0', '1']);
    expect(rows.flat()).not.toContain('law');
  });
});

describe('the report on a team that failed', () => {
  it('says of the jobs that went well that they are on record', async () => {
    const { bare, run } = setStage();
    const members = { finder: member(['Found.']) };
    const lead = member([calling('finder', { task: 'Find it.' }), refused], bare);
    const outcome = expectType(await run(team({ lead: lead.agent, agents: agentsOf(members) })), 'failed');
    const { text } = outcome.report.person;
    expect(linesOf(text)).toContain('- finder: once. What it finished is on its own record');
    expect(text).toContain('What was finished (finder) is on record and is not done again');
    expect(text).not.toContain('may have changed something');
  });

  it('is explained with the jobs among the facts', async () => {
    const { bare, run } = setStage();
    const asked: string[] = [];
    const explain: ScriptStep = ({ messages }) => {
      asked.push(JSON.stringify(messages));
      return 'nothing that can be read';
    };
    const broken = plainTool({
      name: 'broken',
      onError: 'abort',
      execute: () => {
        throw new Error('on fire');
      },
    });
    const script = [calling('finder', { task: 'Find it.' }), calling('broken', {}), explain];
    const lead = member(script, { ...bare, tools: [broken], explain: 'always' });
    const made = team({ lead: lead.agent, agents: agentsOf({ finder: member(['Found.']) }) });
    expectType(await run(made), 'failed');
    expect(asked.join()).toContain(String.raw`The agent \"finder\" succeeded 1 time`);
    expect(asked.join()).toContain(
      String.raw`The tool \"broken\" succeeded 0 times, then failed 1 time in a row`,
    );
  });
});
