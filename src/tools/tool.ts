import { isRecord } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import { checkOptions } from '../model/check/check-options.ts';
import { defineTool, isTool } from '../model/define-tool.ts';
import type { ToolDefinitionInput, ToolModule } from '../model/define-tool.ts';
import { showValue } from '../model/check/show-value.ts';
import type { Schema, Tool } from '../model/tool.ts';
import { guardExit } from './exit-guard.ts';
import { createIsolated } from './isolate.ts';

/** A definition with its code at hand. */
export interface ToolWithCode<S extends Schema> extends Omit<ToolDefinitionInput<S>, 'isolate'> {
  readonly isolate?: boolean;
}

/** A definition whose code is in a module that a thread of its own loads. */
export interface ToolInModule<S extends Schema> extends Omit<ToolDefinitionInput<S>, 'isolate' | 'execute'> {
  readonly isolate: ToolModule;
  readonly execute?: never;
}

/** What `tool()` takes. */
export type ToolOptions<S extends Schema> = ToolWithCode<S> | ToolInModule<S>;

/**
 * Makes a tool that an agent can use; a tool is returned as it is. Throws a `ConfigError` that names the field where the definition makes
 * no sense. One signature: of several, a compiler explains each, and the property that is wrong drowns in it.
 *
 * @example
 * const weather = tool({
 *   name: 'weather',
 *   description: 'The weather of today in a city.',
 *   input: z.object({ city: z.string() }),
 *   effect: 'read',
 *   execute: async ({ city }, { signal }) => lookUp(city, { signal }),
 * });
 */
export function tool<S extends Schema>(definition: ToolOptions<S>): Tool {
  if (isTool(definition) || !isRecord(definition)) return defineTool(definition as unknown as Tool); // Refused there.
  const { isolate, ...plain } = definition;
  if (isolate === undefined || isolate === false) {
    const inProcess = plain as ToolDefinitionInput<S>;
    if (typeof inProcess.execute !== 'function') return defineTool(inProcess);
    return defineTool({ ...inProcess, execute: guardExit(inProcess.execute) });
  }
  const execute = createIsolated({ name: plain.name, source: sourceOf(plain, isolate) });
  return defineTool({ ...plain, execute });
}

type Source = ((...given: never) => unknown) | ToolModule;

function sourceOf(
  { name, execute }: { readonly name: string; readonly execute?: unknown },
  isolate: unknown,
): Source {
  if (isolate === true) {
    if (typeof execute === 'function') return execute as (...given: never) => unknown; // A function takes something.
    const rule = '"execute" must be a function (input, context) => result, where "isolate" is true';
    throw configError(`Cannot define tool "${name}": ${rule}, got ${showValue(execute)}`);
  }
  if (isRecord(isolate))
    checkOptions({ of: `"isolate" of tool "${name}"`, rules: ['module', 'export'] }, isolate);
  const module = isRecord(isolate) ? isolate['module'] : undefined;
  if (typeof module !== 'string' && !(module instanceof URL)) {
    const rule = "true, or { module: new URL('./my-tool.js', import.meta.url) }";
    throw configError(`Cannot define tool "${name}": "isolate" must be ${rule}, got ${showValue(isolate)}`);
  }
  if (execute !== undefined) {
    throw configError(
      `Cannot define tool "${name}": leave out "execute", the code is in the module of "isolate"`,
    );
  }
  return isolate as ToolModule; // Its module was seen above.
}
