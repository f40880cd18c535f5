import type { RunOutcome } from '../../agent/run-outcome.ts';
import { startChaosServer } from '../../chaos/server.ts';
import type { ChaosServer } from '../../chaos/server.ts';
import { createAgent } from '../../runtime/create-agent.ts';
import { createGates } from '../../runtime/model-call/gates.ts';
import { acts } from './demo-acts.ts';
import type { Act } from './demo-acts.ts';
import { createTeller, outcomeRows } from './demo-lines.ts';
import { openBooks, openShop } from './demo-shop.ts';
import type { Books } from './demo-shop.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen, layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';
import { wrap } from '../text/wrap.ts';

const columns = { indent: 3, labelWidth: 11 } as const;

/** Short enough to watch; everything else is as it is by default. */
const policy = {
  retry: { baseDelayMs: 250, deadlineMs: 20_000 },
  timeouts: { headersMs: 5000, totalMs: 10_000 },
  loop: { nudgeAt: 2, withdrawAt: 3, stopAt: 4 },
} as const;

/** Slow enough to follow: how long the server takes to begin an answer, and between two pieces of it. */
const watchable = { latencyMs: 200, chunkDelayMs: 20 } as const;

/**
 * `rerail demo --acts`: an agent with tools, over real sockets, at a provider that misbehaves on purpose; the embedded model answers.
 * Each line is written when it happens.
 */
export async function playActs(
  io: CliIo,
  { latencyMs, chunkDelayMs }: { readonly latencyMs: number; readonly chunkDelayMs: number } = watchable,
): Promise<void> {
  const screen = createScreen(io);
  const say = (...lines: readonly string[]): void => {
    if (lines.length > 0) io.stdout.write(`${lines.join('\n')}\n`);
  };
  say(...title(`Rerail: ${acts.length} runs of an agent, and a provider that misbehaves on purpose`, screen));
  say('', ...wrap(opening, screen.width));
  const server = await startChaosServer({ latencyMs, chunkDelayMs });
  const books = openBooks();
  try {
    let overcome = 0;
    for (const [index, act] of acts.entries()) {
      say('', ...heading(index + 1, act, screen));
      const show = (rows: readonly Row[]): void => say(...layoutRows(rows, { ...screen, ...columns }));
      overcome += await play(act, { server, books, show });
    }
    say('', ...closing({ server, books, overcome }, screen), '', screen.paint('title', 'Type next'));
    say(...nextCommands(io.command, screen));
  } finally {
    await server.close();
  }
}

const opening =
  'The agent runs its tools in this process and asks its models over real sockets, at a server on this machine that breaks as providers do. The embedded model answers there, so no key and no network is needed. What goes wrong is staged and named; what is done about it is decided as you watch.';

function title(text: string, { width, paint }: Screen): readonly string[] {
  return wrap(text, width).map((line) => paint('title', line));
}

function heading(number: number, act: Act, { width, paint }: Screen): readonly string[] {
  const room = width - columns.indent;
  return wrap(act.title, room).map((line, index) => {
    const head = index === 0 ? String(number) : '';
    return `${head.padEnd(columns.indent)}${paint('title', line)}`;
  });
}

interface Stage {
  readonly server: ChaosServer;
  readonly books: Books;
  readonly show: (rows: readonly Row[]) => void;
}

/** Plays one act. Returns how many failures were overcome in it. */
async function play(act: Act, { server, books, show }: Stage): Promise<number> {
  server.setFaults(act.faults);
  const requestsBefore = server.counters().requests;
  const callsBefore = new Map(books.calls);
  show([
    { label: 'staged', text: act.staged },
    { label: 'asked', text: `“${act.prompt}”` },
  ]);
  const agent = createAgent({
    name: 'shop',
    model: act.models(server),
    tools: act.tools(openShop(books, { isDeaf: act.hasDeafTools === true })),
    policy,
    // Its own, so that one act does not open the breaker of the next.
    gates: createGates(),
  });
  const tell = createTeller();
  const onEvent = (event: Parameters<typeof tell>[0]): void => show(tell(event));
  let outcome: RunOutcome = await agent.run(act.prompt, { onEvent });
  show(outcomeRows(outcome));
  if (outcome.type === 'suspended' && act.isApproved === true) {
    show([{ label: 'person', text: 'yes, and the run is resumed' }]);
    outcome = await agent.resume(outcome.runId, { answer: true, onEvent });
    show(outcomeRows(outcome));
  }
  const requests = server.counters().requests - requestsBefore;
  show([
    { label: 'counted', text: countedText(requests, callsSince(callsBefore, books)) },
    { label: 'without', text: act.without },
  ]);
  return outcome.recoveries.length;
}

function callsSince(before: ReadonlyMap<string, number>, { calls }: Books): ReadonlyMap<string, number> {
  const since = [...calls].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return new Map(since.filter(([, count]) => count > 0));
}

function countedText(requests: number, calls: ReadonlyMap<string, number>): string {
  const ran = [...calls].map(([name, count]) => `${name} ran ${times(count)}`);
  return [`${requests} requests`, ...ran].join(', ');
}

function times(count: number): string {
  if (count === 1) return 'once';
  return count === 2 ? 'twice' : `${count} times`;
}

type Totals = Pick<Stage, 'server' | 'books'> & { readonly overcome: number };

function closing({ server, books, overcome }: Totals, { width, paint }: Screen): readonly string[] {
  const { requests, faultsDelivered } = server.counters();
  const { refunds } = books;
  const orders = new Set(refunds.map(({ orderId }) => orderId)).size;
  const line = `${overcome} failures overcome. Counted at the server: ${requests} requests, ${faultsDelivered} hit an injected fault. Counted in the books of the shop: ${refunds.length} refunds for ${orders} orders, ${refunds.length - orders} doubled.`;
  return wrap(line, width).map((text) => paint('recovery', text));
}

const next = [
  ['tour', 'seven failures that are easily misread'],
  ['chaos serve', 'the same provider, for your own agent'],
  ['classify --help', 'what one failed call of yours means'],
] as const;

/** Beside each other where there is room, else below each other. */
function nextCommands(command: string, screen: Screen): readonly string[] {
  const rows = next.map(([name, text]) => ({ line: `${command} ${name}`, text }));
  const labelWidth = Math.max(...rows.map(({ line }) => line.length)) + 2;
  const isWide = rows.every(({ text }) => 2 + labelWidth + text.length <= screen.width);
  return rows.flatMap(({ line, text }) => {
    if (isWide) return [`  ${line.padEnd(labelWidth)}${text}`];
    return [`  ${line}`, ...wrap(`    ${text}`, screen.width)];
  });
}
