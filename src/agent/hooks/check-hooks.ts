import { isRecord } from '../../base/json.ts';
import { nearestNames } from '../../base/nearest.ts';
import { configError } from '../../errors/config-error.ts';
import type { RerailError } from '../../errors/rerail-error.ts';
import { showName, showValue } from '../../model/check/show-value.ts';
import { hookFields, hookKinds, hookPoints, legalActions } from './hook-rules.ts';
import type { Hook, HookKind, HookPoint } from './hook.ts';

const maxHooks = 100;
const maxNameCharacters = 100;
/** A longer answer belongs into a tool or an approval, which are made to be waited for. */
const maxTimeoutMs = 600_000;

/** Throws a `ConfigError` that names the first thing that makes no sense, before any run begins. */
export function checkHooks(hooks: unknown): readonly Hook[] {
  if (!Array.isArray(hooks)) throw configError(`"hooks" must be a list of hooks, got ${showValue(hooks)}`);
  if (hooks.length > maxHooks) {
    throw configError(`An agent has at most ${maxHooks} hooks, got ${hooks.length}`);
  }
  for (let index = 0; index < hooks.length; index += 1) checkHook(hooks[index], index);
  return hooks as readonly Hook[]; // Looked at field by field, which the compiler cannot follow.
}

type Fields = Readonly<Record<string, unknown>>;

function checkHook(hook: unknown, index: number): void {
  if (!isRecord(hook)) throw configError(`hooks[${index}] must be a hook, got ${showValue(hook)}`);
  const { name, kind } = hook;
  if (typeof name !== 'string' || name.trim() === '' || name.length > maxNameCharacters) {
    throw configError(
      `hooks[${index}].name must be a text of 1 to ${maxNameCharacters} characters, got ${showValue(name)}`,
    );
  }
  if (!isOneOf(hookKinds, kind)) throw unknownName(`the kind of hook ${showName(name)}`, kind, hookKinds);
  checkFieldNames(name, hook);
  checkTimeout(name, hook['timeoutMs']);
  checkHandlers({ name, kind, on: hook['on'] });
  checkOnEvent({ name, kind, onEvent: hook['onEvent'] });
}

/** A hook may carry more, for the code that made it; a field that looks like one of ours is one of ours misspelt. */
function checkFieldNames(name: string, hook: Fields): void {
  for (const field of Object.keys(hook)) {
    if (isOneOf(hookFields, field)) continue;
    const [nearest] = nearestNames(field, hookFields);
    const meant = nearest ?? (isOneOf(hookPoints, field) ? `on: { '${field}': … }` : undefined);
    if (meant !== undefined) {
      throw configError(`Hook ${showName(name)} has no field ${showName(field)}: did you mean "${meant}"?`);
    }
  }
}

function checkTimeout(name: string, timeoutMs: unknown): void {
  if (timeoutMs === undefined) return;
  const isLegal = typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= maxTimeoutMs;
  if (isLegal) return;
  throw configError(
    `"timeoutMs" of hook ${showName(name)} must be above 0 and at most ${maxTimeoutMs}, got ${showValue(timeoutMs)}`,
  );
}

function checkHandlers({ name, kind, on }: { name: string; kind: HookKind; on: unknown }): void {
  if (!isRecord(on)) {
    throw configError(
      `"on" of hook ${showName(name)} must be an object of functions by point, such as { 'before-tool': … }, got ${showValue(on)}`,
    );
  }
  for (const point of Object.keys(on)) {
    if (on[point] === undefined) continue;
    if (!isOneOf(hookPoints, point))
      throw unknownName(`a point of hook ${showName(name)}`, point, hookPoints);
    if (typeof on[point] !== 'function') {
      throw configError(
        `"on['${point}']" of hook ${showName(name)} must be a function, got ${showValue(on[point])}`,
      );
    }
    if (legalActions(kind, point) === null) throw wrongPlace({ name, kind, point });
  }
}

function wrongPlace({ name, kind, point }: { name: string; kind: HookKind; point: HookPoint }): RerailError {
  const legal = hookPoints.filter((other) => legalActions(kind, other) !== null);
  return configError(
    `Hook ${showName(name)} is a ${kind} and cannot be at "${point}", where nothing can be ${
      kind === 'guardrail' ? 'stopped' : 'changed'
    }: make a hook of kind "observer" for it. A ${kind} can be at ${legal.join(', ')}`,
  );
}

function checkOnEvent({ name, kind, onEvent }: { name: string; kind: HookKind; onEvent: unknown }): void {
  if (onEvent === undefined) return;
  if (kind !== 'observer') {
    throw configError(
      `Hook ${showName(name)} is a ${kind}, and only an observer receives events: make another hook for "onEvent"`,
    );
  }
  if (typeof onEvent !== 'function') {
    throw configError(`"onEvent" of hook ${showName(name)} must be a function, got ${showValue(onEvent)}`);
  }
}

function unknownName(what: string, value: unknown, known: readonly string[]): RerailError {
  const [nearest] = typeof value === 'string' ? nearestNames(value, known) : [];
  const advice = nearest === undefined ? '' : `: did you mean "${nearest}"?`;
  return configError(`${what} must be one of ${known.join(', ')}, got ${showValue(value)}${advice}`);
}

function isOneOf<Name extends string>(names: readonly Name[], value: unknown): value is Name {
  return names.some((name) => name === value);
}
