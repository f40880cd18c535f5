import type { Given } from '../specs/command-spec.ts';
import { shellWord } from '../run-reading/run-words.ts';
import { placeWord } from './store-place.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';

/**
 * The options of settings that were typed, to be typed again: a resumed run needs the same store, folder and model. What was
 * not typed is found again where it was found before.
 */
export function typedSettings(flags: Given['flags']): string {
  const { model = [], baseURL, config, store, workspace, sandbox, fetch } = settingFlagsOf({ flags });
  const rows = [
    ...(typeof model === 'string' ? [model] : model).map((name) => ['model', name] as const),
    ['base-url', baseURL] as const,
    ['config', config] as const,
    ['store', store] as const,
    ['workspace', workspace] as const,
    ['sandbox', sandbox] as const,
  ];
  const words = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} ${name === 'store' ? placeWord(value) : shellWord(value)}`],
  );
  return [...words, ...(fetch === false ? [' --no-fetch'] : [])].join('');
}
