import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { flow } from '../../src/flow/flow.ts';
import { team } from '../../src/flow/team.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import { shellTool } from '../../src/tools/workspace/shell.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'rerail-held-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const off = { sandbox: { off: 'this test' } } as const;

/** A lead that demands a sandbox, and a member below a flow whose own workspace has switched it off. */
async function runBelow(min: 'bare' | undefined): Promise<string> {
  const held = await openWorkspace(root, { sandbox: min === undefined ? {} : { min } });
  const loose = await openWorkspace(root, off);
  const model = scriptedModel([
    { toolCalls: [{ name: 'shell', arguments: { command: 'echo out' } }] },
    'Done.',
  ]);
  const member = createAgent({ name: 'member', model, tools: [shellTool(loose)] });
  const inner = flow('member', { agents: { member } });
  const lead = createAgent({
    name: 'lead',
    model: scriptedModel([{ toolCalls: [{ name: 'inner', arguments: { task: 'Run it' } }] }, 'Done.']),
    tools: [shellTool(held)],
    policy: { permissions: [{ tool: 'shell', permission: 'allow' }] },
    callbacks: { onApproval: () => true },
  });
  await team({ lead, agents: { inner } }).run('Go');
  return JSON.stringify(model.calls.at(-1)?.request.messages.at(-1));
}

describe('the sandbox of an agent below others', () => {
  it('is at least what the one above demands, also through a flow: what is weaker runs nothing', async () => {
    expect(await runBelow('bare')).toContain('must run in a sandbox of level \\"bare\\" at least');
  });

  it('is its own where nobody above demands anything', async () => {
    expect(await runBelow(undefined)).toContain('sandbox: off');
  });
});
