import { wait } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { visible } from '../../base/printable.ts';
import type { SandboxChoice } from '../../tools/workspace/workspace.ts';
import { failedCheck, failureOf } from './doctor-check.ts';
import type { Check } from './doctor-check.ts';
import type { CliIo } from '../start/io.ts';
import { wantsColour } from '../text/paint.ts';

/** Both clocks at one moment. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function readMoment({ wallMs, monotonicMs }: Clock): Moment {
  return { wallMs: wallMs(), monotonicMs: monotonicMs() };
}

/** What a server said the time was, and what it was here when that came. */
export interface ServerTime {
  readonly provider: string;
  readonly serverMs: number;
  readonly wallMs: number;
}

const plausible = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2100, 0, 1) } as const;
const maxJumpMs = 100;
const maxSkewMs = 60_000;

/** Whether the clock can be believed: by its year, by a clock that cannot jump, and by what servers say. */
export function checkClock(from: Moment, to: Moment, servers: readonly ServerTime[] = []): Check {
  const now = textOf(to.wallMs);
  const name = 'clock';
  const advice = 'Set the clock of this machine, best by NTP: expiries, certificates and waits depend on it.';
  if (!(to.wallMs >= plausible.from && to.wallMs < plausible.to)) {
    return { name, status: 'warning', text: `It says ${now}, which cannot be.`, advice };
  }
  const jumpMs = to.wallMs - from.wallMs - (to.monotonicMs - from.monotonicMs);
  if (Math.abs(jumpMs) > maxJumpMs) {
    const text = `It says ${now}, and jumped by ${Math.round(jumpMs)} ms while this was looked at.`;
    return { name, status: 'warning', text, advice };
  }
  const far = servers.find(({ serverMs, wallMs }) => Math.abs(serverMs - wallMs) > maxSkewMs);
  if (far !== undefined) {
    const seconds = Math.round((far.wallMs - far.serverMs) / 1000);
    const side = seconds > 0 ? 'ahead of' : 'behind';
    const text = `It says ${now}, ${Math.abs(seconds)} s ${side} ${far.provider}.`;
    return { name, status: 'warning', text, advice };
  }
  const agreed = servers.length === 0 ? '' : `, and ${servers[0]?.provider ?? ''} agrees`;
  return { name, status: 'ok', text: `${now}${agreed}` };
}

function textOf(wallMs: number): string {
  const date = new Date(wallMs);
  if (Number.isNaN(date.getTime())) return 'nothing that is a time';
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** What can be shown here. */
export function checkTerminal(io: Pick<CliIo, 'isTerminal' | 'columns' | 'env' | 'terminal'>): Check {
  const { isTerminal, columns, env } = io;
  const locale = env['LC_ALL'] ?? env['LC_CTYPE'] ?? env['LANG'] ?? '';
  const isUnicode = /utf-?8/i.test(locale);
  const parts = [
    isTerminal.stdout ? `${columns ?? 'an unknown number of'} columns` : 'no terminal, so plain lines',
    wantsColour(io) ? 'colour' : 'no colour',
    isUnicode ? 'Unicode' : 'perhaps no Unicode',
    io.terminal === undefined ? 'no keyboard' : 'keyboard',
  ];
  const check = { name: 'terminal', text: parts.join(', ') };
  if (isTerminal.stdout && !isUnicode) {
    const found = locale === '' ? 'No locale is set' : `The locale is ${visible(locale)}`;
    return { ...check, status: 'warning', advice: `${found}. Set LANG to one with UTF-8, such as C.UTF-8.` };
  }
  return { ...check, status: 'ok' };
}

interface SandboxQuestion {
  readonly folder: string;
  readonly choice: SandboxChoice;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const maxProbeMs = 20_000;

/** What commands run in, found out by really trying, with the label that every other face shows. */
export async function checkSandbox({ folder, choice, clock, signal }: SandboxQuestion): Promise<Check> {
  const name = 'sandbox';
  const done = new AbortController();
  try {
    const { openWorkspace } = await import('../../tools/workspace/open-workspace.ts');
    const probing = openWorkspace(folder, { sandbox: choice }).then(async (workspace) => workspace.sandbox());
    const late = wait(maxProbeMs, { clock, signal: AbortSignal.any([signal, done.signal]) });
    const sandbox = await Promise.race([probing, late]);
    if (typeof sandbox === 'string') {
      signal.throwIfAborted();
      const text = `It could not be found out within ${maxProbeMs / 1000} s.`;
      return { name, status: 'warning', text, advice: 'Try again when the machine is less busy.' };
    }
    const { level, label, reasons } = sandbox;
    const text = [label, ...reasons.map((reason) => `No stronger: ${visible(reason)}.`)].join(' ');
    if (level === 'contained') return { name, status: 'ok', text };
    return { name, status: 'warning', text, advice: sandboxAdvice[level] };
  } catch (error) {
    return failedCheck(name, failureOf(error));
  } finally {
    done.abort();
  }
}

const install = 'On Debian and Ubuntu: apt-get install bubblewrap.';

const sandboxAdvice = {
  restricted: `With bubblewrap it may be contained. ${install}`,
  bare: `Look at each command before you say yes, or install bubblewrap. ${install}`,
  off: 'Switch it on again by leaving out what switches it off.',
} as const;
