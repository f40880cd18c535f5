import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosModel, FaultName } from '../../src/chaos/index.ts';
import { RerailError } from '../../src/errors/index.ts';
import type { Failure, Origin } from '../../src/errors/index.ts';
import type { RunEvent, RunOutcome } from '../../src/index.ts';
import type { CallOutcome, EmbeddingOutcome, Model } from '../../src/model/index.ts';
import { openai } from '../../src/providers/openai/index.ts';

/**
 * How a code is reached. A row gives back the outcome of a public verb, or lets the error of one pass; it has no way to hand in a
 * failure that it made itself.
 */
export type Row =
  | { readonly origin: Origin; readonly ends: (stage: Stage) => Promise<Outcome> }
  | { readonly origin: Origin; readonly throws: (stage: Stage) => unknown }
  /** The run goes on with less, and reports it only as an event. */
  | { readonly origin: Origin; readonly reports: (stage: Stage, onEvent: Watcher) => Promise<RunOutcome> };

type Watcher = (event: RunEvent) => void;

/** What the public verbs resolve to. */
type Outcome = RunOutcome | CallOutcome | EmbeddingOutcome;

/** What a row runs on: a folder of its own and servers on the loopback. Both are gone afterwards. */
export interface Stage {
  readonly folder: string;
  /** The address of a chaos server. */
  readonly serve: (options?: ServerOptions) => Promise<string>;
  /** A provider's model that asks such a server. */
  readonly model: (options?: ServerOptions) => Promise<Model>;
  /** Done when the row is over, the latest first. */
  readonly onEnd: (action: () => unknown) => void;
}

interface ServerOptions {
  /** The answers in turn, the last one again and again; or a function of the request. */
  readonly answers?: readonly ScriptedTurn[] | Extract<ChaosModel, (...given: never) => unknown>;
  /** At every request. */
  readonly fault?: FaultName;
}

type ScriptedTurn = Extract<ChaosModel, { readonly script: unknown }>['script'][number];

/** No real one: the servers are ours. */
export const key = 'test-key-0123456789';

/** Plays a row and gives the failure that its public verb reported. */
export async function reach(row: Row): Promise<Failure> {
  const endings: (() => unknown)[] = [];
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-codes-'));
  endings.push(() => rm(folder, { recursive: true, force: true }));
  const stage = setStage(folder, (action) => void endings.push(action));
  try {
    if ('ends' in row) return failureIn(await row.ends(stage));
    if ('throws' in row) return await failureThrown(() => row.throws(stage));
    const events: RunEvent[] = [];
    const outcome = await row.reports(stage, (event) => void events.push(event));
    return failureAmong(events, outcome);
  } finally {
    for (const end of endings.toReversed()) await end();
  }
}

function setStage(folder: string, onEnd: Stage['onEnd']): Stage {
  const serve: Stage['serve'] = async ({ answers = ['Hello.'], fault } = {}) => {
    const server = await startChaosServer({
      model: typeof answers === 'function' ? answers : { script: answers, repeat: true },
      ...(fault === undefined ? {} : { faults: () => fault }),
    });
    onEnd(() => server.close());
    return server.baseURL('openai-chat');
  };
  const model: Stage['model'] = async (options) =>
    openai('gpt-4o', { api: 'chat', apiKey: key, baseURL: await serve(options) });
  return { folder, serve, model, onEnd };
}

/** What ended it; or else what it has overcome. */
function failureIn(outcome: Outcome): Failure {
  const ending = 'failure' in outcome ? outcome.failure : undefined;
  const overcome = 'recoveries' in outcome ? outcome.recoveries[0]?.failure : undefined;
  const failure = ending ?? overcome;
  if (failure === undefined) throw new Error(`Expected a failure, got ${JSON.stringify(outcome)}`);
  return failure;
}

function failureAmong(events: readonly RunEvent[], { type }: RunOutcome): Failure {
  if (type !== 'completed') throw new Error(`Expected a run that goes on, but it is ${type}`);
  for (const event of events) if ('failure' in event && event.failure !== undefined) return event.failure;
  throw new Error(`Expected a failure among ${events.map((event) => event.type).join(', ')}`);
}

async function failureThrown(action: () => unknown): Promise<Failure> {
  try {
    await action();
  } catch (error) {
    if (RerailError.isInstance(error)) return error.failure;
    throw error;
  }
  throw new Error('Expected a RerailError, and nothing was thrown');
}
