import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { failedCheck, failureOf } from './doctor-check.ts';
import type { Check } from './doctor-check.ts';
import type { SettingFlags } from '../config/setting-flags.ts';
import type { LocalServer } from '../config/local-server.ts';
import { isStandIn } from '../run-reading/check-place.ts';
import { wordsFor } from '../config/provider-address.ts';
import type { ChosenModel, Settings } from '../config/settings.ts';
import type { CliIo } from '../start/io.ts';
import { worstCaseOf } from './worst-case.ts';
import type { WorstCase } from './worst-case.ts';

/** What the settings come to. */
export interface ConfigFound {
  readonly checks: readonly Check[];
  /** Absent where they are wrong. */
  readonly settings?: Settings;
  readonly worstCase?: WorstCase;
}

interface ConfigQuestion {
  readonly flags: SettingFlags;
  readonly io: CliIo;
  readonly local: readonly LocalServer[];
  /** Failures that were reported already, by their message. */
  readonly reported: ReadonlySet<string>;
}

/** Reads the settings as every command does, and says what they can come to. Nothing that is not trusted is run. */
export async function checkConfig({ flags, io, local, reported }: ConfigQuestion): Promise<ConfigFound> {
  const { loadSettings } = await import('../config/load-settings.ts');
  try {
    const settings = await loadSettings(flags, io, { findLocal: () => Promise.resolve(local[0]) });
    const worstCase = worstCaseOf(await partsOf(settings));
    const checks = [
      modelCheck(settings),
      ...settings.models.flatMap(addressChecks),
      ...settings.notices.map(noticeCheck),
      ...worstCaseChecks(worstCase),
    ];
    return { checks, settings, worstCase };
  } catch (error) {
    const failure = failureOf(error);
    return { checks: reported.has(failure.message) ? [] : [failedCheck('config', failure)] };
  }
}

async function partsOf(settings: Settings): Promise<Parameters<typeof worstCaseOf>[0]> {
  const { limits, retry, permissions, protect, sandbox } = settings;
  const { openWorkspace } = await import('../../tools/workspace/open-workspace.ts');
  const { loadWorkspaceTools } = await import('../start/load-workspace-tools.ts');
  const workspace = await openWorkspace(settings.workspace, { protect, sandbox });
  const tools = [...(await loadWorkspaceTools(workspace, settings)), ...settings.tools];
  return { models: settings.models.map(({ model }) => model), limits, retry, permissions, tools };
}

function modelCheck(settings: Settings): Check {
  const text = printable(settings.modelLine.replace(/^Model: /, ''));
  if (!isStandIn(settings)) return { name: 'model', status: 'ok', text };
  return {
    name: 'model',
    status: 'warning',
    text,
    advice:
      'Until then chat and run answer by fixed rules, without a language model, and no run of another model is resumed.',
  };
}

/** Where a provider is asked, if that is not its own address: a key goes there. */
function addressChecks({ name, address }: ChosenModel): readonly Check[] {
  if (address === undefined) return [];
  const text = `${name} is asked at ${redact(address.url)}, by ${wordsFor(address.from)}; its key is sent there`;
  return [{ name: 'base URL', status: 'ok', text: printable(text) }];
}

function noticeCheck(notice: string): Check {
  return { name: 'config', status: 'warning', text: printable(notice) };
}

function worstCaseChecks(worst: WorstCase): readonly Check[] {
  return [
    { name: 'worst case', status: 'ok', text: worstCaseText(worst) },
    ...worst.warnings.map(({ text, advice }): Check => ({
      name: 'config',
      status: 'warning',
      text: `${text}.`,
      advice,
    })),
  ];
}

/** One sentence on what a turn and a run can come to. */
export function worstCaseText(worst: WorstCase): string {
  const { requestsPerTurn, requestsPerRun, longestTurnMs, longestRunMs } = worst;
  return `A turn: at most ${countText(requestsPerTurn)} requests, ${timeText(longestTurnMs)}${costText(worst)}. A run: at most ${countText(requestsPerRun)} requests, ${timeText(longestRunMs)}.`;
}

function costText({ costPerTurnUsd, withoutPrice, assumedTokens }: WorstCase): string {
  const { input, output } = assumedTokens;
  const unknown =
    withoutPrice.length === 0 ? '' : `, and what ${withoutPrice.map(printable).join(', ')} may cost`;
  if (costPerTurnUsd === undefined) return unknown;
  const cost = costPerTurnUsd === Infinity ? 'any cost' : `$${costPerTurnUsd.toFixed(2)}`;
  return `, ${cost} at ${countText(input)} tokens in and ${countText(output)} out for each request${unknown}`;
}

function countText(count: number): string {
  return count === Infinity ? 'any number of' : count.toLocaleString('en-US');
}

const minuteMs = 60_000;

function timeText(ms: number): string {
  if (ms < minuteMs) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.floor(ms / minuteMs);
  const seconds = Math.round((ms % minuteMs) / 1000);
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}
