import type { RunLimits } from '../../agent/limits.ts';
import { checkValue } from './check-config.ts';
import type { ConfigProblem } from './config-problem.ts';
import { toSandbox } from './environment-values.ts';
import type { GivenValue } from './given-value.ts';

/** What was typed that is a setting. */
export interface SettingFlags {
  /** `--model`, which may come more than once and may hold several with commas between them. */
  readonly model?: string | readonly string[] | undefined;
  /** `--base-url`: where the provider of the first model is asked. */
  readonly baseURL?: string | undefined;
  /** `--config`: a file, or `none`. */
  readonly config?: string | undefined;
  readonly store?: string | undefined;
  readonly workspace?: string | undefined;
  /** `contained`, `restricted`, `bare` or `off`. */
  readonly sandbox?: string | undefined;
  /** False where `--no-fetch` was typed. */
  readonly fetch?: boolean | undefined;
  /** Of a command that has options for them; each is named `--max-turns` for `maxTurns`. */
  readonly limits?: Partial<RunLimits> | undefined;
}

/** The values of what was typed, and what is wrong with them. */
export function flagValues(
  flags: SettingFlags,
  folder: string,
): { readonly values: readonly GivenValue[]; readonly problems: readonly ConfigProblem[] } {
  const values: GivenValue[] = [];
  const add = (path: string, value: unknown, flag: string): void => {
    if (value !== undefined) values.push({ path, value, from: `flag ${flag}`, folder });
  };
  add('model', namesOf(flags.model), '--model');
  add('baseURL', flags.baseURL, '--base-url');
  add('store', flags.store, '--store');
  add('sandbox', flags.sandbox === undefined ? undefined : toSandbox(flags.sandbox), '--sandbox');
  // There is no flag that says yes.
  add('fetch', flags.fetch === false ? false : undefined, '--no-fetch');
  for (const [name, value] of Object.entries(flags.limits ?? {})) {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    add(`limits.${name}`, value, `--${flag}`);
  }
  const problems = values.flatMap(({ path, value, from }) =>
    checkValue(value, path).map(({ text }) => ({ place: from, text })),
  );
  return { values, problems };
}

function namesOf(model: SettingFlags['model']): readonly string[] | undefined {
  if (model === undefined) return undefined;
  const given = typeof model === 'string' ? [model] : model;
  return given.flatMap((text) => text.split(',')).map((name) => name.trim());
}
