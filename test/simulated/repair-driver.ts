import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Message, ToolResultPart } from '../../src/model/message.ts';
import type { ToolDefinition } from '../../src/model/request.ts';
import type { MindCall } from '../../src/providers/simulated/mind-answer.ts';
import { createMind } from '../../src/providers/simulated/mind.ts';

// Real files and real test runs, without the rest of Rerail: what the embedded model does is all that is looked at.

/** How a repair went. */
export interface Repair {
  readonly answer: string;
  readonly turns: number;
  readonly calls: readonly MindCall[];
  /** In the end, by path. */
  readonly files: Readonly<Record<string, string>>;
}

const text = { type: 'string' } as const;

export const repairTools: readonly ToolDefinition[] = [
  tool('shell', { command: text }),
  tool('read_file', { path: text }),
  tool('edit_file', { path: text, oldText: text, newText: text }),
  tool('search_files', { pattern: text }),
];

function tool(name: string, properties: Readonly<Record<string, typeof text>>): ToolDefinition {
  return { name, parameters: { type: 'object', properties, required: Object.keys(properties) } };
}

export const plea = 'The tests fail (node --test). Find out why and mend it.';

const maxTurns = 40;

/** Lets the embedded model work on a folder of its own until it answers in words. */
export async function repair(
  files: Readonly<Record<string, string>>,
  { prompt = plea, refuse }: { readonly prompt?: string; readonly refuse?: string } = {},
): Promise<Repair> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-repair-test-'));
  try {
    for (const [name, content] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    const messages: Message[] = [{ role: 'user', content: prompt }];
    const calls: MindCall[] = [];
    const mind = createMind();
    for (let turn = 1; turn <= maxTurns; turn += 1) {
      const { text: said = '', toolCalls } = mind.answer({ messages, tools: repairTools });
      if (toolCalls.length === 0) return { answer: said, turns: turn, calls, files: await readAll(folder) };
      calls.push(...toolCalls);
      messages.push(...(await perform(toolCalls, { folder, said, refuse })));
    }
    throw new Error(`It never came to an end: ${calls.map(({ name }) => name).join(', ')}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Stage {
  readonly folder: string;
  readonly said: string;
  /** The tool that is denied. */
  readonly refuse: string | undefined;
}

async function perform(calls: readonly MindCall[], stage: Stage): Promise<readonly Message[]> {
  const results: ToolResultPart[] = [];
  for (const [index, call] of calls.entries()) {
    const { name } = call;
    const shown =
      name === stage.refuse
        ? { content: 'Permission denied by a rule.', isError: true }
        : await execute(call, stage.folder);
    results.push({ type: 'tool-result', callId: `call_${index}`, name, ...shown });
  }
  const made = calls.map(({ name, arguments: given }, index) => ({
    type: 'tool-call' as const,
    callId: `call_${index}`,
    name,
    argumentsText: JSON.stringify(given),
  }));
  return [
    { role: 'assistant', content: [{ type: 'text', text: stage.said }, ...made] },
    { role: 'tool', content: results },
  ];
}

async function execute(
  { name, arguments: given }: MindCall,
  folder: string,
): Promise<{ readonly content: string; readonly isError?: true }> {
  const field = (key: string): string => given[key] as string; // All of them are texts, by the schemas above.
  if (name === 'shell') return { content: await runTests(field('command'), folder) };
  const file = path.join(folder, field('path'));
  try {
    const content = await readFile(file, 'utf8');
    if (name === 'read_file') {
      const lines = content.split('\n').map((line, place) => `${place + 1}\t${line}`);
      return { content: lines.join('\n') };
    }
    const parts = content.split(field('oldText'));
    if (parts.length !== 2)
      return { content: `"oldText" stands there ${parts.length - 1} times`, isError: true };
    await writeFile(file, parts.join(field('newText')));
    return { content: 'Changed.' };
  } catch (error) {
    return { content: String(error), isError: true };
  }
}

function runTests(command: string, folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Under a test runner, Node's own would take itself for a part of it.
    const child = spawn(command, {
      cwd: folder,
      shell: true,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    child.on('error', reject);
    child.on('close', (exitCode) => resolve(`exit code ${exitCode}\n${output}`));
  });
}

async function readAll(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(folder, { recursive: true });
  const sources = names.filter((name) => name.endsWith('.js'));
  const read = sources.map(async (name) => [name, await readFile(path.join(folder, name), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read));
}
