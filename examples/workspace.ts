import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAgent } from 'rerail';
import { simulated } from 'rerail/providers/simulated';
import { openWorkspace, takeBack, workspaceTools } from 'rerail/tools/workspace';

const folder = await mkdtemp(path.join(tmpdir(), 'project-'));
const file = path.join(folder, 'sum.mjs');
await writeFile(file, 'export function sum(a, b) {\n  return a - b;\n}\n');
await writeFile(
  path.join(folder, 'sum.test.mjs'),
  `import test from 'node:test';
import assert from 'node:assert/strict';
import { sum } from './sum.mjs';
test('adds two numbers', () => assert.equal(sum(2, 3), 5));
`,
);

const workspace = await openWorkspace(folder, { protect: ['migrations/**'] });
const agent = createAgent({
  model: simulated(),
  tools: workspaceTools(workspace, { fetch: false }),
  policy: {
    permissions: [
      // Spares a person a question; it is no boundary. The boundary is the sandbox.
      { tool: 'shell', input: { command: { runs: ['node --test'] } }, permission: 'allow' },
      { tool: 'edit_file', permission: 'allow' },
    ],
  },
});

const outcome = await agent.run('The tests fail (node --test). Find out why and fix it.');
console.log(outcome.type); // completed
console.log(await readFile(file, 'utf8')); // … return a + b; …
console.log(await takeBack(workspace, outcome.runId)); // [ { path: 'sum.mjs', result: 'restored' } ]
await rm(folder, { recursive: true });
