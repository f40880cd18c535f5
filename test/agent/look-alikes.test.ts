import { describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import type { PersonRequest } from '../../src/index.ts';
import { approvalLines } from '../../src/cli/text/approval-lines.ts';
import { createPaint } from '../../src/cli/text/paint.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { anyInput } from '../golden/world.ts';

async function ask(argumentsOf: Readonly<Record<string, string>>): Promise<PersonRequest | undefined> {
  const shell = tool({
    name: 'shell',
    description: 'Runs.',
    input: anyInput,
    permission: 'ask',
    execute: () => 'ran',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'shell', arguments: argumentsOf }] }]);
  const outcome = await createAgent({ model, tools: [shell] }).run('Go on');
  return outcome.type === 'suspended' ? outcome.request : undefined;
}

describe('a question about a call', () => {
  it.each([
    {
      what: 'a host of two alphabets',
      command: 'curl https://\u0440\u0430ypal.com',
      code: 'U+0440',
      shown: '<U+0440>',
    },
    { what: 'a turned reading direction', command: 'rm a\u202Eb', code: 'U+202E', shown: '<U+202E>' },
    { what: 'letters without width', command: 'rm a\u200Bb', code: 'U+200B', shown: '<U+200B>' },
    { what: 'a fullwidth program', command: '\uFF47\uFF49\uFF54 push', code: 'U+FF47', shown: '<U+FF47>' },
  ])('with $what says so, in the request and on the screen', async ({ command, code, shown }) => {
    const request = await ask({ command });
    expect(request).toMatchObject({ input: { command }, warning: expect.stringContaining(code) as string });
    const screen = { width: 70, paint: createPaint(false) };
    const lines = request === undefined ? [] : approvalLines(request, screen);
    expect(lines.join('\n')).toContain(shown);
    expect(lines.join('\n')).toContain('caution');
  });

  it('of plain text, in whatever language, says nothing', async () => {
    for (const command of ['git status', 'echo "Привет, мир"', 'echo 你好。', 'cat docs/café.md\n'])
      expect(await ask({ command })).not.toHaveProperty('warning');
  });
});
