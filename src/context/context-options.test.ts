import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../testing/scripted-model.ts';
import { resolveContext } from './context-options.ts';

const model = scriptedModel([]);

describe('resolveContext() refuses', () => {
  it.each([
    { options: null, says: '"context" must be an object, such as { maxTokens: 128_000 }, got null' },
    { options: [], says: '"context" must be an object, such as { maxTokens: 128_000 }, got a list' },
    {
      options: { maxToken: 1 },
      says: 'There is no field "maxToken" in "context": did you mean "maxTokens"?',
    },
    {
      options: { window: 1 },
      says: 'known are maxTokens, reserveTokens, strategy, keepLastTurns, summaryModel',
    },
    {
      options: { maxTokens: 0 },
      says: '"context.maxTokens" must be a whole number above 0, such as 128_000, got 0',
    },
    { options: { maxTokens: Number.NaN }, says: 'got NaN' },
    { options: { maxTokens: Infinity }, says: 'got Infinity' },
    { options: { maxTokens: '128k' }, says: 'got the text "128k"' },
    { options: { reserveTokens: 10 }, says: '"context.reserveTokens" needs "context.maxTokens"' },
    {
      options: { maxTokens: 100, reserveTokens: 100 },
      says: 'a whole number from 0 and below "maxTokens" (100), got 100',
    },
    { options: { maxTokens: 100, reserveTokens: -1 }, says: 'got -1' },
    {
      options: { strategy: 'windw' },
      says: 'There is no strategy the text "windw" for "context.strategy": did you mean "window"?',
    },
    {
      options: { strategy: 7 },
      says: 'There is no strategy 7 for "context.strategy": known are "clear-results", "window", "summary"',
    },
    { options: { strategy: ['window', 'truncate'] }, says: 'There is no strategy the text "truncate"' },
    {
      options: { strategy: [] },
      says: '"context.strategy" must be at least one strategy, or left out, got a list',
    },
    { options: { strategy: ['window', 'window'] }, says: 'names a strategy twice' },
    {
      options: { keepLastTurns: 0 },
      says: '"context.keepLastTurns" must be a whole number from 1 to 1000, got 0',
    },
    { options: { keepLastTurns: 1.5 }, says: 'got 1.5' },
    { options: { strategy: 'summary', summaryModel: 'gpt' }, says: '"context.summaryModel" must be a model' },
    { options: { summaryModel: model }, says: '"context.summaryModel" is never asked' },
  ])('$options', ({ options, says }) => {
    expect(() => resolveContext(options)).toThrow(says);
  });
});

describe('resolveContext() fills in', () => {
  it.each([
    { options: undefined, rules: { strategies: ['clear-results', 'window'], keepLastTurns: 2 } },
    {
      options: { maxTokens: undefined },
      rules: { strategies: ['clear-results', 'window'], keepLastTurns: 2 },
    },
    {
      options: { maxTokens: 128_000 },
      rules: {
        budget: { maxTokens: 128_000, reserveTokens: 4096 },
        strategies: ['clear-results', 'window'],
        keepLastTurns: 2,
      },
    },
    {
      options: { maxTokens: 1000, strategy: 'window' },
      rules: { budget: { maxTokens: 1000, reserveTokens: 250 }, strategies: ['window'], keepLastTurns: 2 },
    },
    {
      options: {
        maxTokens: 1000,
        reserveTokens: 0,
        strategy: ['summary', 'window'],
        keepLastTurns: 5,
        summaryModel: model,
      },
      rules: {
        budget: { maxTokens: 1000, reserveTokens: 0 },
        strategies: ['summary', 'window'],
        keepLastTurns: 5,
        summaryModel: model,
      },
    },
  ])('$options', ({ options, rules }) => {
    expect(resolveContext(options)).toEqual(rules);
  });
});
