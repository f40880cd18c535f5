// Table: the variables of the environment that the command line understands, and the value that each stands for.
import { nearestNames } from '../../base/nearest.ts';
import { checkValue } from './check-config.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { GivenValue } from './given-value.ts';

interface VariableRow {
  readonly variable: string;
  readonly path: string;
  readonly read: (text: string) => unknown;
}

/** Numbers that are none stay texts, so that the check can say what was found. */
const toNumber = (text: string): unknown => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text);
const toList = (text: string): unknown => text.split(',').map((part) => part.trim());
const flags: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  on: true,
  yes: true,
  0: false,
  false: false,
  off: false,
  no: false,
};
const toFlag = (text: string): unknown => flags[text.toLowerCase()] ?? text;

/** Each with what it means in a configuration file. */
const variableRows: readonly VariableRow[] = [
  { variable: 'RERAIL_MODEL', path: 'model', read: toList },
  { variable: 'RERAIL_BASE_URL', path: 'baseURL', read: (text) => text },
  { variable: 'RERAIL_STORE', path: 'store', read: (text) => text },
  { variable: 'RERAIL_SANDBOX', path: 'sandbox', read: toSandbox },
  { variable: 'RERAIL_INSTRUCTIONS', path: 'instructions', read: (text) => text },
  { variable: 'RERAIL_FETCH', path: 'fetch', read: toFlag },
  { variable: 'RERAIL_RETRY', path: 'retry', read: (text) => text },
  { variable: 'RERAIL_MAX_TURNS', path: 'limits.maxTurns', read: toNumber },
  { variable: 'RERAIL_MAX_TOKENS', path: 'limits.maxTokens', read: toNumber },
  { variable: 'RERAIL_MAX_COST_USD', path: 'limits.maxCostUsd', read: toNumber },
  { variable: 'RERAIL_MAX_TOOL_CALLS', path: 'limits.maxToolCalls', read: toNumber },
  { variable: 'RERAIL_TIMEOUT_MS', path: 'limits.timeoutMs', read: toNumber },
];

/** Read by other parts of the program. */
const otherVariables = ['RERAIL_DEBUG'];

export interface EnvironmentValues {
  readonly values: readonly GivenValue[];
  readonly problems: readonly ConfigProblem[];
  readonly notices: readonly string[];
}

/** What the environment says. An empty variable is how many tools write an absent one. */
export function environmentValues(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): EnvironmentValues {
  const given = variableRows.flatMap(({ variable, path, read }) => {
    const text = env[variable]?.trim() ?? '';
    return text === '' ? [] : [{ path, value: read(text), from: `environment ${variable}`, folder }];
  });
  const problems = given.flatMap(({ path, value, from }) =>
    checkValue(value, path).map(({ text }) => ({ place: from, text })),
  );
  return { values: given, problems, notices: unknownVariables(env) };
}

/** `contained`, `restricted` and `bare` are the least that will do. */
export function toSandbox(text: string): unknown {
  return text === 'off' ? { off: true } : { min: text };
}

const maxNotices = 5;

function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = [...variableRows.map(({ variable }) => variable), ...otherVariables];
  return Object.keys(env)
    .filter((name) => name.startsWith('RERAIL_') && !known.includes(name))
    .flatMap((name) => {
      const [nearest] = nearestNames(name, known);
      return nearest === undefined ? [] : [`${name} is set, and nothing reads it; did you mean ${nearest}?`];
    })
    .slice(0, maxNotices);
}
