import { configError } from '../../errors/config-error.ts';
import { markConfined } from '../../model/confinement.ts';
import type { Tool, ToolContext } from '../../model/tool.ts';
import type { BoundedOutput, CommandResult } from '../sandbox/sandbox.ts';
import { tool } from '../tool.ts';
import { holdWorkspace } from './hold-workspace.ts';
import type { Workspace } from './workspace.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** How the shell tool is held. Everything has a default. */
export interface ShellOptions {
  /** For a command that names none; two minutes unless told. */
  readonly timeoutMs?: number;
  /** The most that a command may ask for; ten minutes unless told. */
  readonly maxTimeoutMs?: number;
  /** Of each stream, head and tail; 20,000 unless told. */
  readonly maxOutputBytes?: number;
}

const defaultTimeoutMs = 120_000;
const defaultMaxTimeoutMs = 600_000;
const defaultMaxOutputBytes = 20_000;
const maxCommandCharacters = 100_000;
/** For the first probe, for ending a command gently, and for putting in order what it left. */
const marginMs = 60_000;
/** For the lines about the command itself. */
const marginCharacters = 2000;

/**
 * A tool `shell` that runs a command in the sandbox of a workspace. It asks before each, and says with each result in which level it
 * ran. An exit code other than 0 is a result; a command that could not be started is a failure without side effects.
 *
 * @example createAgent({ tools: [shellTool(workspace)] });
 */
export function shellTool(workspace: Workspace, options: ShellOptions = {}): Tool {
  checkOptions({ of: 'shellTool()', rules: ['timeoutMs', 'maxTimeoutMs', 'maxOutputBytes'] }, options);
  const limits = resolveLimits(options);
  const made = tool({
    name: 'shell',
    description:
      'Runs a command with sh in the workspace and returns its exit code and output. It has no terminal and no input. ' +
      'Depending on the sandbox it has no network, sees only the workspace and the programs of the system, and everything it ' +
      'started ends with it. Long output is cut in the middle.',
    input: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          description: 'For sh -c, such as "npm test"',
          minLength: 1,
          maxLength: maxCommandCharacters,
        },
        folder: {
          type: 'string',
          description: 'Where to run it, from the root of the workspace; the root unless told',
        },
        timeoutMs: {
          type: 'integer',
          description: `When to end it, in milliseconds; ${limits.timeoutMs} unless told`,
          minimum: 1,
          maximum: limits.maxTimeoutMs,
        },
      },
      required: ['command'],
      additionalProperties: false,
    },
    effect: 'once',
    permission: 'ask',
    timeoutMs: limits.maxTimeoutMs + marginMs,
    maxResultCharacters: 2 * limits.maxOutputBytes + marginCharacters,
    // One after the other: each looks at what is protected before and after, and must not take another's work for its own.
    resource: `shell ${workspace.root}`,
    execute: (input, context) => runShell({ workspace, limits }, input as unknown as ShellInput, context), // The schema was asked.
  });
  return markConfined(made, {
    min: workspace.options.sandbox.min,
    holdTo: (min) => shellTool(holdWorkspace(workspace, min), options),
  });
}

interface ShellInput {
  readonly command: string;
  readonly folder?: string;
  readonly timeoutMs?: number;
}

type Limits = Required<ShellOptions>;

function resolveLimits(options: ShellOptions): Limits {
  const maxTimeoutMs = options.maxTimeoutMs ?? defaultMaxTimeoutMs;
  const limits = {
    maxTimeoutMs,
    timeoutMs: options.timeoutMs ?? Math.min(defaultTimeoutMs, maxTimeoutMs),
    maxOutputBytes: options.maxOutputBytes ?? defaultMaxOutputBytes,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw configError(`Cannot make the shell tool: "${name}" must be a whole number above 0, got ${value}`);
  }
  if (limits.timeoutMs <= maxTimeoutMs) return limits;
  const rule = `"timeoutMs" must be at most "maxTimeoutMs", ${maxTimeoutMs}`;
  throw configError(`Cannot make the shell tool: ${rule}, got ${limits.timeoutMs}`);
}

interface Shell {
  readonly workspace: Workspace;
  readonly limits: Limits;
}

async function runShell(
  { workspace, limits }: Shell,
  { command, folder, timeoutMs = limits.timeoutMs }: ShellInput,
  { signal, progress }: ToolContext,
): Promise<string> {
  const sandbox = await workspace.sandbox();
  const result = await sandbox.run({
    command,
    timeoutMs,
    signal,
    maxOutputBytes: limits.maxOutputBytes,
    onOutput: (text) => progress(text),
    ...(folder === undefined ? {} : { folder }),
  });
  return describeResult(result, timeoutMs);
}

function describeResult(result: CommandResult, timeoutMs: number): string {
  const { durationMs, level, stdout, stderr } = result;
  return [
    howItEnded(result, timeoutMs),
    `duration: ${durationMs} ms`,
    `sandbox: ${level}`,
    ...survivors(result),
    ...describeOutput('stdout', stdout),
    ...describeOutput('stderr', stderr),
  ].join('\n');
}

function howItEnded({ exitCode, signal, ended }: CommandResult, timeoutMs: number): string {
  const how = exitCode === undefined ? `ended by signal: ${signal ?? 'none seen'}` : `exit code: ${exitCode}`;
  if (ended === undefined) return how;
  const why = ended === 'timeout' ? `timeout, after ${timeoutMs} ms` : 'cancelled';
  return `ended: ${why}\n${how}`;
}

function survivors({ ended, survivorsPossible }: CommandResult): readonly string[] {
  return ended !== undefined && survivorsPossible ? ['a process that it started may still run'] : [];
}

function describeOutput(name: string, { text, bytes, omittedBytes }: BoundedOutput): readonly string[] {
  if (text === '') return [`${name}: empty`];
  const left = omittedBytes === 0 ? '' : `, ${omittedBytes} of them left out in the middle`;
  return [`${name} (${bytes} bytes${left}):`, text.endsWith('\n') ? text.slice(0, -1) : text];
}
