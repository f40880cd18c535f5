import { defaultLimits } from '../../agent/limits.ts';
import { isRecord } from '../../base/json.ts';
import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { boundText } from '../../base/text.ts';
import { isTool } from '../../model/define-tool.ts';
import { shownPlace } from '../start/store-place.ts';
import type { ModelChoice } from './choose-model.ts';
import type { GivenValue, Merged } from './given-value.ts';
import type { SettingOrigin } from './settings.ts';

const maxShownCharacters = 200;

/** Every effective value with where it came from. */
export function originsOf(merged: Merged, model: ModelChoice): readonly SettingOrigin[] {
  const chosen = model.models.map(({ name }) => name);
  const given = [...merged]
    .filter(([path]) => path !== 'model' && path !== 'baseURL' && !path.startsWith('limits.'))
    .flatMap(([path, values]) => originsAt(path, values));
  const limits = Object.entries(defaultLimits).map(([name, usual]): SettingOrigin => {
    const path = `limits.${name}`;
    const [first] = merged.get(path) ?? [];
    return { path, value: shown(first?.value ?? usual), from: first?.from ?? 'default' };
  });
  const retry = merged.has('retry') ? [] : [{ path: 'retry', value: 'standard', from: 'default' }];
  const first = { path: 'model', value: shown(chosen), from: model.from };
  const all = [first, ...addressesOf(model), ...given, ...retry, ...limits];
  return all.toSorted((one, other) => rankOf(one.path) - rankOf(other.path));
}

/** Where the first model is asked, and each fallback whose provider is asked elsewhere than at its own address. */
function addressesOf({ models: [first, ...others] }: ModelChoice): readonly SettingOrigin[] {
  const { url, from } = first.address ?? { url: "the provider's own", from: 'default' };
  const further = others.flatMap(({ model, address }): readonly SettingOrigin[] =>
    address === undefined || model.provider === first.model.provider
      ? []
      : [{ path: `baseURL.${model.provider}`, value: shown(address.url), from: address.from }],
  );
  return [{ path: 'baseURL', value: shown(url), from }, ...further];
}

const order = [
  'model',
  'baseURL',
  'instructions',
  'store',
  'permissions',
  'protect',
  'sandbox',
  'retry',
  'explain',
  'fetch',
  'commands',
  'tools',
  'limits',
];

function rankOf(path: string): number {
  return order.indexOf(path.split('.')[0] ?? '');
}

/** Joined lists have a row for each file that has a say. */
function originsAt(path: string, values: readonly [GivenValue, ...GivenValue[]]): readonly SettingOrigin[] {
  const isJoined = path === 'permissions' || path === 'protect';
  const counting =
    isJoined && values.length > 1 ? values.filter(({ from }) => from !== 'default') : values.slice(0, 1);
  return counting.map(({ value, from }) => ({ path, value: shown(shortOf(path, { value, from })), from }));
}

/** What is too long to be shown whole every time, and what is data for a machine. */
function shortOf(path: string, { value, from }: Pick<GivenValue, 'value' | 'from'>): unknown {
  if (path === 'instructions' && from === 'default') return 'the built-in ones';
  if (path === 'store' && typeof value === 'string') return shownPlace(value);
  if (path !== 'sandbox' || !isRecord(value)) return value;
  if (typeof value['min'] === 'string') return `at least ${value['min']}`;
  return value['off'] === true || typeof value['off'] === 'string' ? 'off' : 'the strongest available';
}

function shown(value: unknown): string {
  return boundText(redact(printable(words(value))), maxShownCharacters);
}

function words(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(words).join(', ');
  if (isTool(value)) return value.name;
  if (isRecord(value)) return JSON.stringify(value);
  return String(value);
}
