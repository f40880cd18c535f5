import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgent } from '../../src/runtime/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { fetchTool } from '../../src/tools/workspace/fetch/fetch-page.ts';
import { startSite } from './call-fetch.ts';
import type { TestSite } from './call-fetch.ts';

let allowed: TestSite;
let other: TestSite;
beforeAll(async () => {
  other = await startSite((_request, response) => response.end('SECRET'));
  allowed = await startSite((request, response) => {
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    response.writeHead(to === null ? 200 : 302, to === null ? {} : { location: to });
    response.end('harmless');
  });
});
afterAll(async () => {
  await allowed.close();
  await other.close();
});

/** What an agent is answered whose rules allow one host: when it fetches from there, and then from where it was sent. */
async function fetchTwice(to: string): Promise<readonly string[]> {
  const model = scriptedModel([
    { toolCalls: [{ name: 'fetch', arguments: { url: `${allowed.url}/?to=${encodeURIComponent(to)}` } }] },
    { toolCalls: [{ name: 'fetch', arguments: { url: new URL(to, allowed.url).href } }] },
    'Done.',
  ]);
  // Both may be reached as far as the tool is concerned: it is the rules that tell them apart.
  const names = [allowed, other].flatMap(({ port }) => [`127.0.0.1:${port}`, `localhost:${port}`]);
  const agent = createAgent({
    model,
    tools: [fetchTool({ allowPrivate: names, resolve: () => Promise.resolve(['127.0.0.1']) })],
    policy: {
      permissions: [{ tool: 'fetch', input: { url: { matches: `${allowed.url}/*` } }, permission: 'allow' }],
    },
    callbacks: { onApproval: () => false },
  });
  await agent.run('Go');
  const messages = model.calls.at(-1)?.request.messages ?? [];
  return messages.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message));
}

it.each([
  { what: 'another port', to: () => `${other.url}/` },
  { what: 'another name of the same machine', to: () => `http://localhost:${allowed.port}/` },
  { what: 'another host, without a scheme', to: () => `//localhost:${other.port}/` },
])(
  'a redirect to $what is not followed, and the rules judge it when the model asks for it',
  async ({ to }) => {
    const before = other.connections();
    const [first, second] = await fetchTwice(to());
    expect(first).toContain('which is another host or port');
    expect(first).toContain(new URL(to(), allowed.url).host);
    expect(second).not.toContain('harmless');
    expect(second).not.toContain('SECRET');
    expect(other.connections()).toBe(before);
  },
);

it.each([
  { what: 'another scheme', to: () => 'ftp://127.0.0.1/', says: 'only http: and https:' },
  { what: 'a user name', to: () => `http://a:b@${allowed.host}/`, says: 'a user name or a password' },
])('a redirect to what may never be fetched is refused: $what', async ({ to, says }) => {
  expect((await fetchTwice(to()))[0]).toContain(says);
});

it('a redirect within the host is followed', async () => {
  expect((await fetchTwice('/page'))[0]).toContain('harmless');
});
