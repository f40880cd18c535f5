import { describe, expect, it } from 'vitest';
import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import { createScreen } from '../text/layout.ts';
import { toProviderInput } from '../classify/observation.ts';
import { tourSamples } from './tour-samples.ts';
import { renderTour } from './tour.ts';
import { displayWidth } from '../text/wrap.ts';

const pipe = { stdin: false, stdout: false, stderr: false };

describe('renderTour()', () => {
  const text = renderTour(createScreen({ columns: 80, env: {}, isTerminal: pipe }), 'npx rerail');

  it('shows verdicts that the samples stand for', () => {
    const verdicts = tourSamples.map(({ observation }) => {
      const { code, retryable, retryAfterMs } = classifyProviderFailure(toProviderInput(observation, 0));
      return [code, retryable, retryAfterMs];
    });
    expect(verdicts).toEqual([
      ['QUOTA_EXCEEDED', false, undefined],
      ['RATE_LIMITED', true, 40_000],
      ['RATE_LIMITED', true, 107_500],
      ['OVERLOADED', true, undefined],
      ['CONTEXT_LENGTH_EXCEEDED', false, undefined],
      ['NETWORK_ERROR', true, undefined],
      ['INVALID_RESPONSE', true, undefined],
    ]);
  });

  it('fits 80 columns, also where it is narrower', () => {
    expect(Math.max(...text.split('\n').map(displayWidth))).toBeLessThanOrEqual(80);
    const narrow = renderTour(createScreen({ columns: 60, env: {}, isTerminal: pipe }), 'npx rerail').split(
      '\n',
    );
    const prose = narrow.slice(0, narrow.indexOf('Type next'));
    expect(Math.max(...prose.map(displayWidth))).toBeLessThanOrEqual(60);
  });

  it('says honestly what is there and what is not', () => {
    expect(text.replaceAll(/\s+/g, ' ')).toContain('the agent acts by it.');
  });

  it('ends with three commands to type', () => {
    const lines = text.trimEnd().split('\n');
    expect(lines.slice(lines.indexOf('Type next') + 1)).toHaveLength(3);
    expect(lines.slice(-3).every((line) => line.includes('npx rerail classify'))).toBe(true);
  });

  it('is plain where colour is not wanted', () => {
    expect(text).not.toContain('\u001b');
  });
});
