import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { defined } from '../../base/defined.ts';
import { startChaosServer } from '../../chaos/server.ts';
import type { ChaosServer } from '../../chaos/server.ts';
import { exitCodes } from '../../errors/codes.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Store } from '../../model/store/store.ts';
import { anthropic } from '../../providers/anthropic/anthropic.ts';
import { openai } from '../../providers/openai/openai.ts';
import { readTestReport } from '../../providers/simulated/test-report.ts';
import type { TestReport } from '../../providers/simulated/test-report.ts';
import { createAgent } from '../../runtime/create-agent.ts';
import { createGates } from '../../runtime/model-call/gates.ts';
import { loadDriver } from '../../storage/sqlite/driver.ts';
import { sqlite } from '../../storage/sqlite/sqlite.ts';
import { editFileTool } from '../../tools/workspace/edit-file.ts';
import { listFilesTool } from '../../tools/workspace/search/list-files.ts';
import { openWorkspace } from '../../tools/workspace/open-workspace.ts';
import { readFileTool } from '../../tools/workspace/read-file.ts';
import { searchFilesTool } from '../../tools/workspace/search/search-files.ts';
import { shellTool } from '../../tools/workspace/shell.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import { playActs } from '../demo/demo-acts-play.ts';
import { demoFaults } from '../demo/demo-faults.ts';
import { payAtBank, playPayment } from '../demo/demo-payment.ts';
import { demoProject, demoPrompt, demoTestCommand } from '../demo/demo-project.ts';
import { nextLines, openingLines, resultLines, titleLines } from '../demo/demo-words.ts';
import { exitCodeOf } from './exit-code-of.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { interruptedExitCode, listenForInterrupts } from '../start/two-interrupts.ts';
import { quote, usageError } from '../text/usage-error.ts';
import { createRunView } from '../view/create-run-view.ts';

/** How fast the demonstration goes. */
export interface DemoPace {
  /** How long the server takes to begin an answer, and between two pieces of it. */
  readonly latencyMs: number;
  readonly chunkDelayMs: number;
}

/** Slow enough to follow. */
const watchable: DemoPace = { latencyMs: 150, chunkDelayMs: 15 };

/** `rerail demo`: what a newcomer sees first. */
export const runDemo: CommandRun = async (given, io) => {
  const { pay } = given.flags;
  if (typeof pay === 'string') return payAtBank(pay, io);
  if (given.flags['acts'] !== true) return playDemo(readSeed(given.flags['seed']), io);
  await playActs(io);
  return 0;
};

/** An agent repairs a project in a folder of its own, and everything is shown as it happens. */
export async function playDemo(seed: number, io: CliIo, pace: DemoPace = watchable): Promise<number> {
  const interrupts = listenForInterrupts();
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-demo-'));
  let exitCode = 1;
  try {
    exitCode = await perform({ seed, io, pace, folder, signal: interrupts.signal });
    return (exitCode === exitCodes.cancelled ? interruptedExitCode(interrupts) : undefined) ?? exitCode;
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
    exitCode = exitCodes.cancelled;
    return interruptedExitCode(interrupts) ?? exitCode;
  } finally {
    interrupts.stop();
    // A demonstration that was ended is not looked at again.
    if (exitCode !== 0) {
      await rm(folder, { recursive: true, force: true });
      io.stdout.write(`The demonstration has ended early; its folder ${folder} was removed.\n`);
    }
  }
}

interface Demo {
  readonly seed: number;
  readonly io: CliIo;
  readonly pace: DemoPace;
  readonly folder: string;
  readonly signal: AbortSignal;
}

async function perform(demo: Demo): Promise<number> {
  const { seed, io, pace, folder, signal } = demo;
  const screen = createScreen(io);
  const say = (lines: readonly string[]): void => void io.stdout.write(`${lines.join('\n')}\n`);
  say(titleLines(screen));
  const { workspace, before } = await openProject(folder, signal);
  const sandbox = await workspace.sandbox();
  say(openingLines({ seed, root: workspace.root, sandboxLabel: sandbox.label, before }, screen));
  const storeFile = path.join(folder, 'runs.db');
  const store = openStore(storeFile);
  const server = await startChaosServer({ seed, ...pace, faults: demoFaults(seed) });
  try {
    const outcome = await runAgent(demo, { workspace, server, store });
    if (outcome.type === 'cancelled') return exitCodeOf(outcome);
    const after = await runTests(workspace, signal);
    const { requests, faultsDelivered } = server.counters();
    const kept = store === undefined ? undefined : storeFile;
    say(resultLines({ outcome, before, after, requests, faultsDelivered }, screen));
    const isPaidOnce = store === undefined || (await playPayment({ io, folder, signal }));
    say(nextLines({ storeFile: kept, folder, command: io.command }, screen));
    const isWell = after.type === 'passed' && isPaidOnce;
    return outcome.type === 'completed' && !isWell ? 1 : exitCodeOf(outcome);
  } finally {
    await server.close();
    await store?.close();
  }
}

interface Project {
  readonly workspace: Workspace;
  readonly before: TestReport;
}

/** The project on disk, with its tests run once. */
async function openProject(folder: string, signal: AbortSignal): Promise<Project> {
  const root = path.join(folder, 'project');
  for (const [name, content] of Object.entries(demoProject)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
  const workspace = await openWorkspace(root);
  const before = await runTests(workspace, signal);
  if (before.type === 'failed') return { workspace, before };
  // A Node that lies in a home folder cannot be seen from inside.
  const off = 'rerail demo, in its own temporary folder: the sandbox of this machine does not let Node run';
  const open = await openWorkspace(root, { sandbox: { off } });
  return { workspace: open, before: await runTests(open, signal) };
}

const testTimeoutMs = 20_000;

async function runTests(workspace: Workspace, signal: AbortSignal): Promise<TestReport> {
  const sandbox = await workspace.sandbox();
  const { stdout, stderr, exitCode } = await sandbox.run({
    command: demoTestCommand,
    timeoutMs: testTimeoutMs,
    signal,
  });
  signal.throwIfAborted();
  return readTestReport(`${stdout.text}\n${stderr.text}`, exitCode);
}

/** Nothing where this machine has no SQLite: then the run is only watched. */
function openStore(file: string): Store | undefined {
  try {
    loadDriver();
  } catch (error) {
    if (RerailError.isInstance(error)) return undefined;
    throw error;
  }
  return sqlite(file);
}

interface Stage {
  readonly workspace: Workspace;
  readonly server: ChaosServer;
  readonly store: Store | undefined;
}

/** What it is called, so that the commands to type next are short. */
const runId = 'demo';
// Any key will do at the misbehaving provider.
const apiKey = 'demo';

async function runAgent({ io, signal }: Demo, { workspace, server, store }: Stage): Promise<RunOutcome> {
  const agent = createAgent(
    defined({
      name: 'demo',
      model: [
        anthropic('claude-sonnet-5', { baseURL: server.baseURL('anthropic'), apiKey }),
        openai('gpt-5.4', { baseURL: server.baseURL('openai-responses'), apiKey }),
      ],
      tools: [readFileTool, editFileTool, listFilesTool, searchFilesTool, shellTool].map((make) =>
        make(workspace),
      ),
      policy: {
        // Short enough to watch; everything else is as it is by default.
        retry: { baseDelayMs: 300, deadlineMs: 20_000 },
        timeouts: { headersMs: 5000, totalMs: 10_000 },
        permissions: [
          {
            tool: ['shell', 'edit_file'],
            permission: 'allow',
            why: 'The temporary folder of the demonstration',
          },
        ],
      },
      limits: { timeoutMs: 60_000 },
      // Its own, so that nothing else in this process has opened a breaker.
      gates: createGates(),
      store,
    } as const),
  );
  const view = createRunView(io);
  try {
    return await agent.run(demoPrompt, { runId, signal, onEvent: view.hear });
  } finally {
    view.close();
  }
}

const maxSeed = 2 ** 31;

function readSeed(typed: unknown): number {
  if (typed === undefined) return 1;
  const seed = typeof typed === 'string' && /^\d{1,10}$/.test(typed) ? Number(typed) : Number.NaN;
  if (seed <= maxSeed) return seed;
  throw usageError({
    message: `--seed must be a whole number from 0 to ${maxSeed}, got ${quote(typeof typed === 'string' ? typed : '')}`,
    hint: 'Type: --seed 7',
  });
}
