import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { bundleProgram } from '../kill/program.ts';
import type { Program } from '../kill/program.ts';
import { openChatWorld } from './chat-world.ts';
import type { ChatWorld, ChatWorldOptions } from './chat-world.ts';

const ctrlC = '\u0003';
const ctrlD = '\u0004';
const slowly = { chunkDelayMs: 25 } as const;

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

/** Begins a chat and waits until it can be typed to. */
async function chat(options: ChatWorldOptions = {}): Promise<ChatWorld> {
  world = await openChatWorld(program.file, options);
  await world.terminal.waitFor(/Ctrl-D\s+leaves\./);
  return world;
}

describe('a chat whose provider misbehaves', () => {
  it('takes back what had scrolled away when the stream broke, and says where from', async () => {
    const { terminal } = await chat({
      server: {
        ...slowly,
        model: { script: ['# A title\n\nThe first line.\n\nThe **second** one is longer than that.\n'] },
        faults: { script: [{ name: 'reset-mid-stream', after: 4 }, null] },
      },
    });
    terminal.type('Hello\r');
    const text = await terminal.waitFor(/1 failure was overcome: STREAM_INTERRUPTED/);
    expect(text).toMatch(/the text above from “A title” on was taken back: the stream broke/);
    expect(text.match(/The second one is longer than that\./g)).toHaveLength(1);
    expect(text).toContain('↻ trying again after');
  });

  it('counts down while it waits, with the reason and who asked for it', async () => {
    const { terminal } = await chat({
      server: {
        model: { script: ['Done.'] },
        faults: { script: [{ name: 'rate-limit', retryAfter: 3 }, null] },
      },
    });
    terminal.type('Hello\r');
    await terminal.waitFor(/busy: trying again in [34] s \(attempt 2 of 4\), asked for by the provider/);
    await terminal.waitFor(/busy: trying again in [12] s \(attempt 2 of 4\), asked for by the provider/);
    const text = await terminal.waitFor(/Done\.[\s\S]*RATE_LIMITED/);
    expect(text).not.toMatch(/busy: trying again/);
  });

  it('says what to do where nothing helps, and can be asked why', async () => {
    const { terminal } = await chat({ server: { faults: { script: ['auth'], repeat: true } } });
    terminal.type('Hello\r');
    await terminal.waitFor(/resume with: rerail resume /);
    terminal.type('/why\r');
    const text = await terminal.waitFor(/With the events behind each sentence/);
    expect(text).toMatch(/AUTHENTICATION_ERROR/);
  });
});

describe('a chat whose tool needs a yes', () => {
  const command = 'rm -rf build\u001b[2K\u001b[1Aecho harmless';
  const server = {
    model: {
      script: [{ toolCalls: [{ name: 'shell', arguments: { command } }] }, 'All right.'],
    },
  };

  it('shows the escape sequence in the command instead of obeying it, and runs it after y', async () => {
    const { terminal } = await chat({ server });
    terminal.type('Clean up\r');
    const asked = await terminal.waitFor(/y\/n >/);
    expect(asked).toContain('rm -rf build<U+001B>[2K<U+001B>[1Aecho harmless');
    expect(terminal.raw()).not.toContain('build\u001b[2K\u001b[1Aecho');
    terminal.type('y\r');
    const text = await terminal.waitFor(/All right\./);
    expect(text).toMatch(/✓ shell rm -rf build<U\+001B>/);
  });

  it.each([
    { name: 'n', keys: 'n\r', said: /shell.* was not run/ },
    { name: 'a reason', keys: 'use the trash\r', said: /denied it: use the trash/ },
    { name: 'Escape', keys: '\u001b', said: /shell.* was not run/ },
    { name: 'Ctrl-C', keys: ctrlC, said: /shell.* was not run/ },
  ])('does not run it after $name', async ({ keys, said }) => {
    const { terminal } = await chat({ server });
    terminal.type('Clean up\r');
    await terminal.waitFor(/y\/n >/);
    terminal.type(keys);
    await terminal.waitFor(/All right\./);
    expect(terminal.text()).toMatch(said);
    expect(terminal.text()).not.toMatch(/✓ shell/);
  });

  it('does not take a pasted y with a line break for a yes', async () => {
    const { terminal } = await chat({ server });
    terminal.type('Clean up\r');
    await terminal.waitFor(/y\/n >/);
    terminal.type('\u001b[200~y\r\u001b[201~');
    await terminal.waitFor(/y\/n > y$/);
    expect(terminal.text()).not.toMatch(/✓ shell/);
  });
});

describe('Ctrl-C in a chat', () => {
  const counting = { model: { script: [{ toolCalls: [{ name: 'count', arguments: {} }] }, 'Counted.'] } };

  it('cancels the turn at first, says how to resume it, and the chat continues', async () => {
    const { terminal, storeFile } = await chat({ server: counting });
    terminal.type('Count\r');
    await terminal.waitFor(/› count \d+ s\n {2}counting 1\/3/);
    terminal.type(ctrlC);
    const text = await terminal.waitFor(/resume with: rerail resume \S+/);
    const runId = /resume with: rerail resume (\S+)/.exec(text)?.[1] ?? '';
    const store = sqlite(storeFile);
    expect(await store.runs.find(runId)).toMatchObject({ status: 'cancelled' });
    await store.close();
    await terminal.waitFor(/> ask for something/);
    terminal.type(ctrlD);
    expect(await terminal.exited()).toBe(0);
  });

  it('leaves at once with 130 the second time, and the run can be resumed', async () => {
    const { terminal, storeFile } = await chat({ server: counting });
    terminal.type('Count\r');
    await terminal.waitFor(/› count/);
    terminal.type(`${ctrlC}${ctrlC}`);
    expect(await terminal.exited()).toBe(130);
    const runId = /Resume with: rerail resume (\S+)/.exec(terminal.text())?.[1] ?? '';
    const store = sqlite(storeFile);
    const row = await store.runs.find(runId);
    await store.close();
    expect(['running', 'cancelled']).toContain(row?.status);
  });

  it('says to press again at an empty prompt, and clears one that is not', async () => {
    const { terminal } = await chat();
    terminal.type('half a thought');
    await terminal.waitFor(/> half a thought/);
    terminal.type(ctrlC);
    await terminal.waitFor(/> ask for something/);
    terminal.type(ctrlC);
    await terminal.waitFor(/Press Ctrl-C again within two seconds to leave, or Ctrl-D\./);
    // Twice, for on a busy machine the two seconds may be over.
    terminal.type(`${ctrlC}${ctrlC}`);
    expect(await terminal.exited()).toBe(130);
  });

  it('leaves a run interrupted and resumable where the terminal is closed', async () => {
    const { terminal, storeFile } = await chat({ server: counting });
    terminal.type('Count\r');
    await terminal.waitFor(/› count/);
    terminal.signal('SIGHUP');
    expect(await terminal.exited()).toBe(129);
    const store = sqlite(storeFile);
    const { runs } = await store.runs.list();
    await store.close();
    expect(runs).toMatchObject([{ status: 'running' }]);
    expect(runs[0]?.owner).toBeUndefined();
  });
});

describe('what is typed in a chat', () => {
  it('is added to the turn that is under way', async () => {
    const { terminal, server } = await chat({
      server: { model: { script: [{ toolCalls: [{ name: 'nap', arguments: {} }] }, 'Seen.'] } },
    });
    terminal.type('Sleep\r');
    await terminal.waitFor(/› nap/);
    terminal.type('and be quick\r');
    await terminal.waitFor(/Added: the model reads it at its next turn\./);
    await terminal.waitFor(/the model reads your message now: “and be quick”/);
    await terminal.waitFor(/Seen\./);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('and be quick');
  });

  it('answers what a tool asks, in words', async () => {
    const { terminal, server } = await chat({
      server: { model: { script: [{ toolCalls: [{ name: 'book', arguments: {} }] }, 'Booked.'] } },
    });
    terminal.type('Book\r');
    await terminal.waitFor(/Window or aisle\?[^]*Type the answer and press Enter/u);
    terminal.type('the aisle, please\r');
    await terminal.waitFor(/Booked\./u);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('booked: the aisle, please');
  });

  it('leaves the question of a tool open by Escape, and asks it again with /resume', async () => {
    const { terminal, server } = await chat({
      server: { model: { script: [{ toolCalls: [{ name: 'book', arguments: {} }] }, 'Booked.'] } },
    });
    terminal.type('Book\r');
    await terminal.waitFor(/Type the answer and press Enter/u);
    terminal.type('\u001b');
    await terminal.waitFor(/suspended: it waits for an answer in words; Window or aisle\?/u);
    terminal.type('/resume\r');
    await terminal.waitFor(/\/resume[^]+Type the answer and press Enter/u);
    terminal.type('the window\r');
    await terminal.waitFor(/Booked\./u);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('booked: the window');
  });

  it('is asked by itself where it came too late for the turn', async () => {
    const { terminal, server } = await chat({
      server: { latencyMs: 600, model: { script: ['One.', 'Two.'] } },
    });
    terminal.type('first\r');
    await terminal.waitFor(/waiting for the model/);
    terminal.type('second\r');
    await terminal.waitFor(/Two\./);
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/first.*One\..*second/);
  });

  it('may have several lines, and a paste is not sent by itself', async () => {
    const { terminal, server } = await chat({ server: { model: { script: ['Thanks.'] } } });
    terminal.type('\u001b[200~first\rsecond\u001b[201~');
    await terminal.waitFor(/> first\n {2}second/);
    terminal.type('\\\rthird\u001b\rfourth');
    await terminal.waitFor(/ {2}third\n {2}fourth/);
    expect(server.counters().requests).toBe(0);
    terminal.type('\r');
    await terminal.waitFor(/Thanks\./);
    expect(JSON.stringify(server.requests[0]?.body)).toContain(String.raw`first\nsecond\nthird\nfourth`);
  });

  it('may be a command: completed by Tab, of the user’s own, or nearly one', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'rerail-commands-'));
    await writeFile(
      path.join(folder, 'review.md'),
      '---\ndescription: Look at a change\n---\nReview $ARGUMENTS now.',
    );
    const { terminal, server } = await chat({
      env: { CHILD_COMMANDS: folder },
      server: { model: { script: ['Reviewed.'] } },
    });
    terminal.type('/modle\r');
    await terminal.waitFor(/There is no command \/modle: did you mean \/model\?/);
    terminal.type('/help\r');
    await terminal.waitFor(/\/review +Look at a change/);
    terminal.type('/rev\tthe tests\r');
    await terminal.waitFor(/Reviewed\./);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('Review the tests now.');
    await rm(folder, { recursive: true });
  });

  it('can be taken back', async () => {
    const { terminal, server } = await chat({ server: { model: { script: ['One.', 'Two.'] } } });
    terminal.type('a secret question\r');
    await terminal.waitFor(/One\.[\s\S]*ask for something/);
    terminal.type('/undo\r');
    const text = await terminal.waitFor(/record of the run is kept/);
    expect(text).toContain('src/a.ts is as it was before');
    terminal.type('next\r');
    await terminal.waitFor(/Two\./);
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('a secret question');
  });
});

describe('the terminal of a chat', () => {
  const long = 'word '.repeat(30).trim();

  it('may have 20 columns', async () => {
    const { terminal } = await chat({ columns: 20, rows: 12, server: { model: { script: [long] } } });
    terminal.type('Hello\r');
    await terminal.waitFor(/1 turn/);
    expect(terminal.screen().every((line) => line.length <= 20)).toBe(true);
    expect(terminal.text().match(/word/g)).toHaveLength(30);
    terminal.type('a rather long line of text');
    await terminal.waitFor(/> a rather long lin\n {2}e of text/);
  });

  it('may become narrower and wider while an answer comes', async () => {
    const { terminal } = await chat({
      server: { ...slowly, model: { script: [`${long}\n\n${long}\n\nThe end.`] } },
    });
    terminal.type('Hello\r');
    await terminal.waitFor(/word word/);
    terminal.resize(40, 20);
    terminal.resize(100, 30);
    const text = await terminal.waitFor(/The end\.[\s\S]*1 turn[\s\S]*ask for something/);
    expect(text.match(/ask for something/g)).toHaveLength(1);
    expect(text.match(/The end\./g)).toHaveLength(1);
  });

  it('shows no colour where NO_COLOR is set', async () => {
    const { terminal } = await chat({
      env: { NO_COLOR: '1' },
      server: { model: { script: ['This is **bold**.'] } },
    });
    terminal.type('Hello\r');
    await terminal.waitFor(/This is \*\*bold\*\*\./);
    // Codes that move the cursor are needed; those that colour end in m.
    // eslint-disable-next-line no-control-regex
    expect(terminal.raw()).not.toMatch(/\u001b\[[0-9;]*m/);
  });

  it('may be a dumb one: lines in, lines out, and no escape codes', async () => {
    const { terminal } = await chat({
      env: { TERM: 'dumb' },
      server: {
        model: { script: [{ toolCalls: [{ name: 'shell', arguments: { command: 'ls' } }] }, 'Done.'] },
      },
    });
    terminal.type('Hello\r');
    await terminal.waitFor(/y\/n >/);
    terminal.type('y\r');
    await terminal.waitFor(/^ok: shell ls/m);
    await terminal.waitFor(/^Done\.$/m);
    expect(terminal.raw()).not.toContain('\u001b');
    terminal.type('/exit\r');
    expect(await terminal.exited()).toBe(0);
  });
});
