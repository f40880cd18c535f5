import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RegistryError } from '../../errors/rerail-error.ts';
import { defineTool } from '../../model/define-tool.ts';
import type { Tool } from '../../model/tool.ts';
import { createToolRegistry } from './tool-registry.ts';

function named(name: string, strict?: true): Tool {
  const extra = strict === undefined ? {} : { strict };
  return defineTool({ name, description: `Does ${name}.`, input: z.object({}), execute: () => 1, ...extra });
}

describe('createToolRegistry()', () => {
  it('refuses two tools of one name', () => {
    const make = (): unknown => createToolRegistry([named('search'), named('read'), named('search')]);
    expect(make).toThrow(RegistryError);
    expect(make).toThrow('Cannot use two tools named "search": rename one of them');
  });

  it('names what was probably meant, and what there is', () => {
    const failure = createToolRegistry([named('search'), named('read_file')]).findUnknown('serach');
    expect(failure).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      origin: 'tool',
      message: 'There is no tool "serach". Did you mean "search"? The tools are: search, read_file.',
    });
  });

  it('bounds the list of names', () => {
    const tools = createToolRegistry(Array.from({ length: 500 }, (_, index) => named(`tool${index}`)));
    const { message } = tools.findUnknown('x'.repeat(100_000));
    expect(message).toContain('tool39 and 460 more.');
    expect(message.length).toBeLessThan(1000);
  });

  it.each(['constructor', '__proto__', 'toString', ''])('knows no tool called %j', (name) => {
    const tools = createToolRegistry([]);
    expect(tools.get(name)).toBeUndefined();
    expect(tools.findUnknown(name).message).toContain('There are no tools at all.');
  });

  it('makes each list for the model once', () => {
    const tools = createToolRegistry([named('search', true), named('read'), named('write')]);
    expect(tools.definitions[0]).toEqual({
      name: 'search',
      description: 'Does search.',
      parameters: { type: 'object', properties: {} },
      strict: true,
    });
    expect(tools.without(new Set())).toBe(tools.definitions);
    const selection = tools.without(new Set(['read', 'write']));
    expect(selection.map(({ name }) => name)).toEqual(['search']);
    expect(tools.without(new Set(['write', 'read']))).toBe(selection);
  });
});
