import { printable } from '../../base/printable.ts';
import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { renderFailure, renderWait } from '../../errors/render-failure.ts';
import { layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';
import { toProviderInput } from '../classify/observation.ts';
import { tourSamples } from './tour-samples.ts';
import type { TourSample } from './tour-samples.ts';
import { wrap } from '../text/wrap.ts';

/** `rerail tour`: a few failures that are easily misread, and what each one means. Needs no key and no network. */
export function renderTour(screen: Screen, command: string): string {
  const lines = [
    screen.paint('title', `Rerail: ${tourSamples.length} failed model calls, and what each one means`),
    '',
    ...wrap(opening, screen.width),
    ...tourSamples.flatMap((sample, index) => ['', ...renderSample(sample, index + 1, screen)]),
    '',
    screen.paint('title', 'Type next'),
    ...nextCommands(command).map((line) => `  ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

const opening =
  'This is the failures layer of Rerail: it reads from what is left of a call what to do next; the agent acts by it. Each sample shows what came in, what a match on keywords would say, and what Rerail says. It needs no key and no network; the verdicts are made as you watch.';

/** In double quotes, which every shell understands. */
function nextCommands(command: string): readonly string[] {
  return [
    `${command} classify --status 429 --header "retry-after: 20"`,
    `curl -is https://api.openai.com/v1/models | ${command} classify`,
    `${command} classify --help`,
  ];
}

const columns = { indent: 3, labelWidth: 11 } as const;

function renderSample(sample: TourSample, number: number, screen: Screen): readonly string[] {
  const failure = printableFailure(classifyProviderFailure(toProviderInput(sample.observation, 0)));
  const rows: readonly Row[] = [
    { label: 'came in', text: printable(sample.cameIn) },
    { label: 'keywords', text: printable(sample.matcher) },
    { label: 'Rerail', text: failure.code, style: 'failure' },
    nextStep(failure),
    { label: '', text: renderFailure(failure, 'person', { retrying: false }) },
  ];
  return [
    `${number}  ${screen.paint('title', sample.title)}`,
    ...layoutRows(rows, { ...screen, ...columns }),
  ];
}

function nextStep({ retryable, retryAfterMs }: Failure): Row {
  if (!retryable) return { label: '', text: 'Do not retry.' };
  const when =
    retryAfterMs === undefined ? 'with growing pauses' : `in ${renderWait(retryAfterMs)}, as asked`;
  return { label: '', text: `Retry ${when}.`, style: 'recovery' };
}
