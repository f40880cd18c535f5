import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { defined } from '../../base/defined.ts';
import { printable } from '../../base/printable.ts';
import { exitCodes } from '../../errors/codes.ts';
import type { StoredStatus } from '../../model/store/store.ts';
import { resolveRetryPolicy } from '../../resilience/retry-policy.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import { loadSettings } from '../config/load-settings.ts';
import type { Settings } from '../config/settings.ts';
import { demandSandbox } from '../start/demand-sandbox.ts';
import { exitCodeOf } from './exit-code-of.ts';
import type { CliIo } from '../start/io.ts';
import { openAgent } from '../start/open-agent.ts';
import type { OpenedAgent } from '../start/open-agent.ts';
import { createApprovals } from './run-approvals.ts';
import { createLineReader } from './run-lines.ts';
import type { LineReader } from './run-lines.ts';
import { readRunFlags, readSchemaFile } from './run-flags.ts';
import type { RunFlags } from './run-flags.ts';
import { answerText, deniedText, eventLine } from './run-output.ts';
import { isStandIn, missingModel } from '../run-reading/check-place.ts';
import { answerSteps } from '../run-reading/next-steps.ts';
import { readRun } from '../run-reading/read-run.ts';
import { shellWord } from '../run-reading/run-words.ts';
import { readPrompt } from './run-prompt.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { noteSlowStore } from '../start/slow-store.ts';
import { typedSettings } from '../start/typed-settings.ts';
import { interruptedExitCode, listenForInterrupts } from '../start/two-interrupts.ts';
import type { Interrupts } from '../start/two-interrupts.ts';
import { createRunView } from '../view/create-run-view.ts';
import { requestFacts } from '../view/request-facts.ts';
import type { RunView } from '../view/run-view.ts';

/** `rerail run`: one thing, from its words to an exit code. */
export const runRun: CommandRun = async (given, io) => {
  const flags = readRunFlags(given, io);
  const schema = flags.schemaFile === undefined ? undefined : await readSchemaFile(flags.schemaFile, io);
  const prompt = await readPrompt(given, io);
  const settings = await loadSettings({ ...settingFlagsOf(given), limits: flags.limits }, io);
  tellSettings(settings, flags, io);
  const late: Late = { view: undefined, opened: undefined, runId: flags.runId };
  const interrupts = listenForInterrupts({
    onLast: () => late.view?.close(),
    onHangUp: async () => (late.runId === undefined ? undefined : late.opened?.agent.release(late.runId)),
  });
  const lines = createLineReader(io);
  const typed = typedSettings(given.flags);
  const scene: Scene = { io, flags, typed, settings, schema, prompt, interrupts, lines, late };
  try {
    return await perform(scene);
  } finally {
    interrupts.stop();
    late.view?.close();
    lines.close();
  }
};

/** Everything that a run of the command knows. */
interface Scene {
  readonly io: CliIo;
  readonly flags: RunFlags;
  /** The options of settings as they were typed. */
  readonly typed: string;
  readonly settings: Settings;
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  readonly prompt: string;
  readonly interrupts: Interrupts;
  readonly lines: LineReader;
  readonly late: Late;
}

/** What is made after something that needs it. */
interface Late {
  view: RunView | undefined;
  opened: OpenedAgent | undefined;
  runId: string | undefined;
}

async function perform(scene: Scene): Promise<number> {
  const { io, flags, settings, schema, lines, late } = scene;
  const view = createView(scene);
  late.view = view;
  const approvals = createApprovals(flags.onApproval, {
    ask: async (request, signal) => {
      const said = await view.ask(request, signal);
      return lines.isOver() ? undefined : said;
    },
    interrupted: scene.interrupts.signal,
  });
  const opened = await openAgent(settings, defined({ onApproval: approvals.answer, outputSchema: schema }));
  late.opened = opened;
  const outcome = await performRun(scene, opened, view);
  view.close();
  tellOutcome(outcome, scene);
  if (approvals.denied.length > 0) io.stderr.write(deniedText(approvals.denied, io));
  return exitCodeFor(outcome, scene.interrupts, approvals.denied);
}

/** A name is a run: one that is there and has not ended is resumed by it. */
async function checkModel(
  { io, flags: { runId }, settings, typed }: Scene,
  { store }: OpenedAgent,
): Promise<void> {
  const row = runId === undefined || !isStandIn(settings) ? undefined : await store.runs.find(runId);
  if (row === undefined || endedStatuses.has(row.status)) return;
  const taken = { reading: await readRun(store, row.runId), settings, storeFlag: typed };
  const missing = missingModel(taken, { verb: 'resume', flags: {}, io });
  if (missing !== undefined) throw missing;
}

const endedStatuses: ReadonlySet<StoredStatus> = new Set(['completed', 'stopped', 'cancelled', 'failed']);

/** Which model and why, and what else a person should know first. */
function tellSettings({ modelLine, notices }: Settings, { isQuiet, isJson }: RunFlags, io: CliIo): void {
  if (isQuiet || isJson) return;
  for (const line of [modelLine, ...notices]) io.stderr.write(`${printable(line)}\n`);
}

const silent: RunView = {
  hear: () => undefined,
  ask: () => Promise.resolve(undefined),
  close: () => undefined,
};

function createView({ io, flags, typed, settings, schema, interrupts, lines, late }: Scene): RunView {
  const { isJson, isQuiet, onApproval } = flags;
  if (isJson || (isQuiet && onApproval !== 'ask')) return silent;
  const view = createRunView(io, {
    plainTo: 'stderr',
    // A terminal shows the answer as it comes; elsewhere it stands on standard output in the end.
    withoutText: io.terminal === undefined || schema !== undefined || isQuiet,
    resumeCommand: (runId) => `${io.command} resume ${shellWord(runId)}${typed}`,
    answerSteps: (request, runId) => answerSteps(request, runId, { command: io.command, storeFlag: typed }),
    preview: async (request, signal) =>
      late.opened === undefined
        ? undefined
        : requestFacts(late.opened.workspace, request, { signal, command: io.command }),
    maxAttempts: resolveRetryPolicy(settings.retry).maxAttempts,
    onInterrupt: () => {
      interrupts.interrupt();
      return 'no-answer';
    },
    ...(io.isTerminal.stdin && io.isTerminal.stderr ? { readLine: lines.readLine } : {}),
  });
  return isQuiet ? { ...view, hear: () => undefined } : view;
}

async function performRun(scene: Scene, opened: OpenedAgent, view: RunView): Promise<RunOutcome> {
  const { io, flags, prompt, interrupts, late } = scene;
  const { isJson, isQuiet, runId, sessionId } = flags;
  let stopNote = (): void => undefined;
  const onEvent = (event: RunEvent): void => {
    stopNote();
    if (event.type === 'run-started') late.runId = event.runId;
    // The last line is written when everything is on record.
    if (isJson && event.type !== 'run-finished') io.stdout.write(eventLine(event));
    view.hear(event);
  };
  try {
    await checkModel(scene, opened);
    await demandSandbox(opened.workspace);
    if (!isJson && !isQuiet) stopNote = noteSlowStore({ sink: io.stderr, place: opened.settings.storeFile });
    return await opened.agent.run(prompt, defined({ signal: interrupts.signal, onEvent, runId, sessionId }));
  } finally {
    stopNote();
    await opened.close();
  }
}

function tellOutcome(outcome: RunOutcome, { io, flags, schema }: Scene): void {
  const hasSchema = schema !== undefined;
  if (flags.isJson) return void io.stdout.write(eventLine({ type: 'run-finished', outcome }));
  const isShown = io.terminal !== undefined && !hasSchema && !flags.isQuiet;
  if (!isShown) io.stdout.write(answerText(outcome, { hasSchema }));
  if (flags.isQuiet && outcome.type !== 'completed') io.stderr.write(`rerail: ${quietText(outcome)}\n`);
}

function quietText(outcome: Exclude<RunOutcome, { type: 'completed' }>): string {
  switch (outcome.type) {
    case 'failed':
      return `The run ${outcome.runId} failed: ${printable(outcome.failure.message)} (${outcome.failure.code})`;
    case 'stopped':
      return `The run ${outcome.runId} was stopped: ${outcome.reason}`;
    case 'suspended':
      return `The run ${outcome.runId} waits: ${outcome.reason}`;
    default:
      return `The run ${outcome.runId} was cancelled`;
  }
}

function exitCodeFor(outcome: RunOutcome, interrupts: Interrupts, denied: readonly string[]): number {
  const own = exitCodeOf(outcome);
  const isEnded = outcome.type === 'cancelled' || outcome.type === 'suspended';
  const interrupted = isEnded ? interruptedExitCode(interrupts) : undefined;
  if (interrupted !== undefined) return interrupted;
  // The answer may be fine, but something that was wanted did not happen, and a script must be able to tell.
  return denied.length > 0 && (own === 0 || own === exitCodes.stopped) ? exitCodes.denied : own;
}
