import { describe, expect, it } from 'vitest';
import { complete, readTyped, unknownCommand } from './slash-line.ts';

describe('readTyped()', () => {
  it.each(['/etc/hosts is what?', 'a /model', '/ model', '//', 'hello'])('takes %j for a message', (text) => {
    expect(readTyped(text)).toEqual({ type: 'message', text });
  });

  it.each([
    { text: '/Model', name: 'model', given: '' },
    { text: ' /resume  abc def ', name: 'resume', given: 'abc def' },
    { text: '/review the\nlast change', name: 'review', given: 'the\nlast change' },
  ])('takes $text for a command', ({ text, name, given }) => {
    expect(readTyped(text)).toEqual({ type: 'command', name, given });
  });
});

describe('complete()', () => {
  const names = ['model', 'resume', 'review', 'reverse'];
  const argumentsOf = (name: string): readonly string[] => (name === 'model' ? ['openai:a', 'openai:b'] : []);

  it.each([
    { text: 'hello', result: undefined },
    { text: '/x', result: undefined },
    { text: '/m', result: { text: '/model ', choices: [] } },
    { text: '/rev', result: { text: '/rev', choices: ['review', 'reverse'] } },
    { text: '/r', result: { text: '/re', choices: [] } },
    { text: '/model o', result: { text: '/model openai:', choices: [] } },
  ])('makes of $text', ({ text, result }) => expect(complete(text, names, argumentsOf)).toEqual(result));
});

describe('unknownCommand()', () => {
  it.each([
    { name: 'modle', says: 'There is no command /modle: did you mean /model?' },
    { name: 'zzz', says: 'There is no command /zzz: /help lists them all' },
  ])('names the nearest of /$name', ({ name, says }) =>
    expect(unknownCommand(name, ['model', 'tools'])).toBe(says),
  );
});
