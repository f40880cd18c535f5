import { startChaosServer } from '../chaos/server.ts';
import type { ChaosServer } from '../chaos/server.ts';
import { renderFailure } from '../errors/render-failure.ts';
import { callModel } from '../runtime/call-model.ts';
import type { CallEvent, CallOutcome } from '../runtime/call-model.ts';
import { createGates } from '../runtime/gates.ts';
import { acts } from './demo-acts.ts';
import type { Act } from './demo-acts.ts';
import type { CliIo } from './io.ts';
import { createScreen, layoutRows } from './layout.ts';
import type { Row, Screen } from './layout.ts';
import { printable } from './printable.ts';
import { wrap } from './wrap.ts';

const columns = { indent: 3, labelWidth: 11 } as const;

/** Short enough to watch; everything else is as it is by default. */
const policy = {
  retry: { baseDelayMs: 150, deadlineMs: 20_000 },
  timeouts: { headersMs: 1500, totalMs: 10_000 },
} as const;

/**
 * `rerail demo`: calls over real sockets to a provider that misbehaves on purpose, answered by the embedded model. Each line is
 * written when it happens.
 */
export async function runDemo(io: CliIo): Promise<void> {
  const screen = createScreen(io);
  const say = (...lines: readonly string[]): void => {
    if (lines.length > 0) io.stdout.write(`${lines.join('\n')}\n`);
  };
  say(
    screen.paint('title', `Rerail: ${acts.length} model calls, and a provider that misbehaves on purpose`),
    '',
    ...wrap(opening, screen.width),
  );
  const server = await startChaosServer();
  try {
    let recovered = 0;
    for (const [index, act] of acts.entries()) {
      say('', `${index + 1}  ${screen.paint('title', act.title)}`);
      const outcome = await play(act, server, (rows) => say(...layoutRows(rows, { ...screen, ...columns })));
      recovered += outcome.report.recoveries.length;
      say(...layoutRows(ending(act, outcome), { ...screen, ...columns }));
    }
    say('', ...closing(server, recovered, screen), '', screen.paint('title', 'Type next'));
    say(...nextCommands(io.command).map((line) => `  ${line}`));
  } finally {
    await server.close();
  }
}

const opening =
  'The calls go over real sockets to a server on this machine that breaks as providers do; the embedded model answers, so no key and no network is needed. Nothing is played back: each decision is made as you watch.';

function nextCommands(command: string): readonly string[] {
  return [
    `${command} tour             seven failures that are easily misread`,
    `${command} chaos serve      the same provider, for your own agent`,
    `${command} classify --help  what one failed call of yours means`,
  ];
}

async function play(
  act: Act,
  server: ChaosServer,
  say: (rows: readonly Row[]) => void,
): Promise<CallOutcome> {
  server.setFaults({ script: act.faults });
  let shown = '';
  return callModel(
    act.models(server),
    { messages: [{ role: 'user', content: act.prompt }] },
    {
      policy,
      // Its own, so that one act does not open the breaker of the next.
      gates: createGates(),
      onEvent: (event) => {
        if (event.type === 'text-delta') shown += event.text;
        say(rowsOf(event, shown));
        if (event.type === 'text-retracted') shown = shown.slice(0, event.keep);
      },
    },
  );
}

function rowsOf(event: CallEvent, shown: string): readonly Row[] {
  switch (event.type) {
    case 'attempt-started':
      return [{ label: `attempt ${event.attempt}`, text: `${event.provider}, ${event.model}` }];
    case 'failure':
      return [
        ...(shown === '' ? [] : [{ label: 'shown', text: `“${printable(shown)}”` }]),
        { label: 'failure', text: event.failure.code, style: 'failure' },
      ];
    case 'recovery':
      return [
        {
          label: event.recovery === 'give-up' ? 'end' : 'recovery',
          text: `${event.recovery}: ${printable(event.reason)}`,
          ...(event.recovery === 'give-up' ? {} : { style: 'recovery' as const }),
        },
      ];
    case 'text-retracted': {
      const kept = event.keep === 0 ? 'all of it' : `all but the first ${event.keep} characters`;
      return [{ label: '', text: `what was shown is taken back: ${kept}`, style: 'recovery' }];
    }
    default:
      return [];
  }
}

function ending(act: Act, outcome: CallOutcome): readonly Row[] {
  const result: Row =
    outcome.type === 'success'
      ? { label: 'answer', text: `“${printable(outcome.result.text)}”` }
      : { label: 'told', text: renderFailure(outcome.failure, 'person', { retrying: false }) };
  return [result, { label: 'without', text: act.without }];
}

function closing(server: ChaosServer, recovered: number, screen: Screen): readonly string[] {
  const { requests } = server.counters();
  const line = `${recovered} failures overcome with ${requests} requests in all, counted at the server; what could not be mended was told in a sentence.`;
  return wrap(line, screen.width).map((text) => screen.paint('recovery', text));
}
