import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { RunEvent } from '../../agent/run-event.ts';
import { isRecord } from '../../base/json.ts';
import { simulated } from '../../providers/simulated/simulated.ts';
import { createAgent } from '../../runtime/create-agent.ts';
import { sqlite } from '../../storage/sqlite/sqlite.ts';
import { tool } from '../../tools/tool.ts';
import { createTeller, outcomeRows } from './demo-lines.ts';
import { exitCodeOf } from '../commands/exit-code-of.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen, layoutRows } from '../text/layout.ts';
import type { Row } from '../text/layout.ts';
import { wrap } from '../text/wrap.ts';

/** The run, so that the commands to type next are short. */
export const paymentRunId = 'payment';

const prompt = 'Pay invoice 2026-117: 420 euros to Acme.';
const columns = { indent: 2, labelWidth: 10 } as const;
/** No process of this part may take longer, on the slowest machine. */
const processTimeoutMs = 15_000;

/** Where the payment is staged. */
export interface PaymentStage {
  readonly io: CliIo;
  /** Its `runs.db` keeps the run. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * A process pays, the bank books it, and the process is killed before it receives the answer. A second process resumes the run and must not pay
 * again. Returns whether there is one transfer and an answer.
 */
export async function playPayment({ io, folder, signal }: PaymentStage): Promise<boolean> {
  const screen = createScreen(io);
  const say = (lines: readonly string[]): void => void io.stdout.write(`${lines.join('\n')}\n`);
  const show = (...rows: readonly Row[]): void => say(layoutRows(rows, { ...screen, ...columns }));
  const title = 'Now a payment, and the process is killed in the middle of it';
  say(['', ...wrap(title, screen.width).map((line) => screen.paint('title', line)), '']);
  show({ label: 'asked', text: `“${prompt}”` });
  let paying: ChildProcess | undefined;
  const bank = await openBank(() => {
    show({ label: 'bank', text: 'the transfer is booked; the answer is not sent' });
    paying?.kill('SIGKILL');
  });
  try {
    const begin = (says: string): Promise<PayingEnd> => {
      const child = startPaying(bank.url, { folder, signal });
      paying = child;
      show({ label: 'process', text: `${child.pid ?? '-'} ${says}` });
      return endOf(child, show);
    };
    const first = await begin(`begins the run "${paymentRunId}"`);
    signal.throwIfAborted();
    const killed = `process ${first.pid ?? '-'} by kill -9, before it knew of the transfer`;
    show({ label: 'killed', text: killed, style: 'failure' });
    const second = await begin(`resumes the run from its record`);
    signal.throwIfAborted();
    const count = bank.transfers();
    show(
      {
        label: 'counted',
        text: `${count === 1 ? '1 transfer' : `${count} transfers`} at the bank, ${second.exitCode === 0 ? '1 answer' : 'no answer'}`,
        style: 'recovery',
      },
      { label: 'without', text: 'the invoice paid twice, or a payment that is not on record' },
    );
    return count === 1 && first.signal === 'SIGKILL' && second.exitCode === 0;
  } finally {
    await bank.close();
  }
}

interface PayingEnd {
  readonly pid: number | undefined;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

function startPaying(
  bank: string,
  { folder, signal }: Pick<PaymentStage, 'folder' | 'signal'>,
): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', 'demo', '--pay', bank], {
    cwd: folder,
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: processTimeoutMs,
    killSignal: 'SIGKILL',
    signal,
  });
}

/** Shows what it says while it lives. */
async function endOf(child: ChildProcess, show: (row: Row) => void): Promise<PayingEnd> {
  // A child that was ended by our signal says so with an error; how it ended is what counts.
  child.on('error', () => undefined);
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => show(readRow(line)));
  }
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { pid: child.pid, exitCode, signal };
}

function readRow(line: string): Row {
  const row: unknown = JSON.parse(line);
  const { label, text, style } = isRecord(row) ? row : {};
  return { label: String(label), text: String(text), ...(style === 'recovery' ? { style } : {}) };
}

interface Bank {
  readonly url: string;
  readonly transfers: () => number;
  readonly close: () => Promise<void>;
}

/** Books every transfer that it receives, each time, and never answers; it can be asked for the transfer of a call. */
async function openBank(onBooked: () => void): Promise<Bank> {
  const booked: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const isThere = booked.includes(decodeURIComponent((request.url ?? '').slice(1)));
      response.writeHead(isThere ? 200 : 404).end();
      return;
    }
    let key = '';
    request.setEncoding('utf8').on('data', (piece: string) => (key += piece));
    request.on('end', () => {
      booked.push(key);
      onBooked();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a port.
  return {
    url: `http://127.0.0.1:${port}`,
    transfers: () => booked.length,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** `rerail demo --pay`: the process that is killed, and the one that comes after it. Its lines are rows, as JSON. */
export async function payAtBank(bank: string, io: CliIo): Promise<number> {
  const show = (rows: readonly Row[]): void => {
    for (const row of rows) io.stdout.write(`${JSON.stringify(row)}\n`);
  };
  const pay = tool({
    name: 'pay',
    description: 'Pays an invoice by a transfer.',
    input: {
      type: 'object',
      properties: { invoice: { type: 'string' }, to: { type: 'string' }, euros: { type: 'number' } },
      required: ['invoice', 'to', 'euros'],
    },
    effect: 'once',
    // A process that is only paused could still pay until then, so that the next one looks no earlier.
    timeoutMs: 1500,
    execute: async (_input, { idempotencyKey, signal }) => {
      await fetch(bank, { method: 'POST', body: idempotencyKey, signal });
      return 'Paid.';
    },
    verify: async (_input, { idempotencyKey, signal }) => {
      const { ok } = await fetch(`${bank}/${encodeURIComponent(idempotencyKey)}`, { signal });
      show([
        { label: 'bank', text: ok ? 'says: that transfer is booked' : 'says: there is no such transfer' },
      ]);
      return ok ? { happened: true, result: 'Paid.' } : { happened: false };
    },
  });
  const input = { invoice: '2026-117', to: 'Acme', euros: 420 };
  const plan = [{ toolCalls: [{ name: 'pay', arguments: input }] }, 'Invoice 2026-117 is paid.'];
  const store = sqlite('runs.db');
  try {
    const agent = createAgent({ name: 'till', model: simulated({ plan }), tools: [pay], store });
    const tell = createTeller();
    const onEvent = (event: RunEvent): void => {
      if (event.type !== 'attempt-started') show(tell(event)); // Which model answers is of no interest here.
    };
    const outcome = await agent.run(prompt, { runId: paymentRunId, onEvent });
    show(outcomeRows(outcome));
    return exitCodeOf(outcome);
  } finally {
    await store.close();
  }
}
