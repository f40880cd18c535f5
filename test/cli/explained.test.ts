import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainWith } from '../../src/cli/commands/explain-command.ts';
import { outcomeLines } from '../../src/cli/view/outcome-lines.ts';
import { createAgent, tool } from '../../src/index.ts';
import type { RunOutcome } from '../../src/index.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { perform } from './fake-io.ts';
import type { Done } from './fake-io.ts';
import { fakeSeam } from './fake-seam.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-explained-'));
const file = path.join(folder, 'runs.db');

const burn = tool({
  name: 'burn',
  description: 'Burns.',
  input: { type: 'object', properties: {} },
  onError: 'abort',
  execute: () => {
    throw new Error('on fire');
  },
});
const words = JSON.stringify({
  summary: 'The oven burnt.',
  claims: [{ text: 'The run failed with TOOL_EXECUTION_ERROR.', facts: [1] }],
  nextSteps: ['resume', 'fix-tool'],
});

async function runOnce(runId: string, explain: 'auto' | 'never'): Promise<RunOutcome> {
  const store = sqlite(file);
  const model = scriptedModel([{ toolCalls: [{ name: 'burn' }] }, words]);
  const agent = createAgent({ name: 'rerail:kitchen-1f0c77ae', model, tools: [burn], store, explain });
  const outcome = await agent.run('Bake.', { runId });
  await store.close();
  return outcome;
}

const outcomes: Record<string, RunOutcome> = {};

beforeAll(async () => {
  outcomes['plain'] = await runOnce('plain', 'never');
  outcomes['explained'] = await runOnce('explained', 'auto');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('rerail explain of a run that was explained when it ended', () => {
  const model = scriptedModel([]);
  const explain = (flags: Readonly<Record<string, unknown>>): Promise<Done> => {
    const seam = fakeSeam({ file, models: [{ name: 'one:large', model }] });
    return perform((given, io) => explainWith(seam, given, io), {
      args: ['explained'],
      flags: { store: file, ...flags },
    });
  };

  it.each([{ flags: {} }, { flags: { full: true } }, { flags: { static: true } }])(
    'asks nobody and shows those words once: $flags',
    async ({ flags }) => {
      const { out, err } = await explain(flags);
      expect(model.calls).toEqual([]);
      expect(err).toBe('');
      expect(out.split('The oven burnt.')).toHaveLength(2);
      expect(out).toContain('In the words of scripted/scripted, checked against the record');
      // As it is typed here, not in a program.
      expect(out.slice(out.indexOf('In the words of'))).not.toContain('await agent.resume');
      expect(out).toContain(`rerail resume explained --store ${file}`);
    },
  );

  it('gives a program the report without them, and them', async () => {
    const { out } = await explain({ json: true });
    const { report, explanation } = JSON.parse(out) as {
      readonly report: { readonly person: string };
      readonly explanation: unknown;
    };
    expect(report.person).not.toContain('The oven burnt.');
    expect(explanation).toMatchObject({ type: 'recorded', summary: 'The oven burnt.' });
  });
});

describe('the end of a run in lines', () => {
  const linesOf = (name: string): readonly string[] =>
    outcomeLines(outcomes[name] as RunOutcome, { options: {}, facts: { turn: 1, attempt: 1 } }).map(
      ({ text }) => text,
    );

  it('has the words of a model only where there are some, below what is known', () => {
    expect(linesOf('plain').join('\n')).not.toContain('in the words of');
    const lines = linesOf('explained');
    expect(lines[0]).toContain('TOOL_EXECUTION_ERROR');
    expect(lines.slice(-2)).toEqual([
      'in the words of scripted/scripted: The oven burnt. The run failed with TOOL_EXECUTION_ERROR.',
      'it proposes to resume after the last finished turn, once the cause is fixed; or fix the tool or what it depends on, then resume',
    ]);
  });
});
