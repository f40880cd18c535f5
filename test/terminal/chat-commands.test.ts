import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { openChatWorld } from './chat-world.ts';
import type { ChatWorld, ChatWorldOptions } from './chat-world.ts';

let program: Program;
let world: ChatWorld | undefined;

beforeAll(async () => {
  program = await bundleProgram('test/terminal/chat-child.ts');
});
afterAll(() => program.remove());
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function chat(script: readonly string[], options: ChatWorldOptions = {}): Promise<ChatWorld> {
  world = await openChatWorld(program.file, {
    server: { model: { script: [...script] } },
    ...options,
  });
  await world.terminal.waitFor(/Ctrl-D\s+leaves\./);
  return world;
}

describe('/model', () => {
  it('keeps the model where the request makes no sense, and says why', async () => {
    const { terminal, server } = await chat(['One.']);
    terminal.type('/model nobody\r');
    await terminal.waitFor(/"nobody" names no model\. \(CONFIG_ERROR\)/);
    terminal.type('Hello\r');
    await terminal.waitFor(/One\./);
    expect(server.requests[0]?.body).toMatchObject({ model: 'gpt-5.2' });
  });

  it('asks another model from then on, in the same conversation', async () => {
    const { terminal, server } = await chat(['One.', 'Two.']);
    terminal.type('first\r');
    await terminal.waitFor(/One\.[\s\S]*ask for something/);
    terminal.type('/model other\r');
    await terminal.waitFor(/openai:other, because the test says so/);
    terminal.type('/model\r');
    await terminal.waitFor(/1\. openai:other, asked first/);
    terminal.type('second\r');
    await terminal.waitFor(/Two\./);
    expect(server.requests[1]?.body).toMatchObject({ model: 'other' });
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/first.*One\..*second/);
  });
});

describe('/compact', () => {
  it('says that there is nothing to save in a short conversation', async () => {
    const { terminal } = await chat(['One.']);
    terminal.type('/compact\r');
    const text = await terminal.waitFor(/there is nothing to save\./);
    expect(text).not.toContain('made shorter');
  });

  it('continues with a shorter conversation, and keeps the whole one under its own name', async () => {
    const { terminal, server, storeFile } = await chat(
      ['One.', 'Two.', 'Three.', 'Four.'].map((answer) => `${'word '.repeat(300)}${answer}`),
    );
    for (const [index, answer] of ['One', 'Two', 'Three'].entries()) {
      terminal.type(`question ${index}\r`);
      await terminal.waitFor(new RegExp(`${answer}\\.[\\s\\S]*ask for something`));
    }
    terminal.type('/compact\r');
    const text = await terminal.waitFor(/The whole one is kept: rerail chat --session\s+\S+/);
    expect(text).toMatch(/The conversation was made shorter: \S+ tokens → \S+ tokens/);
    terminal.type('last\r');
    await terminal.waitFor(/Four\./);
    expect(JSON.stringify(server.requests[3]?.body)).not.toContain('question 1');
    const former = /rerail chat --session\s+(\S+)/.exec(text)?.[1] ?? '';
    const store = sqlite(storeFile);
    expect(JSON.stringify(await store.sessions.messages(former))).toContain('question 1');
    await store.close();
  });
});

describe('the arrow up', () => {
  it('brings back the line that was sent last, while its turn is under way too', async () => {
    const { terminal } = await chat(['One.'], {
      server: { latencyMs: 1500, model: { script: ['One.', 'Two.'] } },
    });
    terminal.type('/help\r');
    await terminal.waitFor(/\/exit +Leave/);
    terminal.type('first\r');
    await terminal.waitFor(/waiting for the model/);
    terminal.type('\u001b[A');
    await terminal.waitFor(/> first$/);
    terminal.type('\u001b[A');
    const text = await terminal.waitFor(/> \/help$/);
    expect(text).toMatch(/waiting for the model/);
  });
});
