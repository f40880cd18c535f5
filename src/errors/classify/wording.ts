import type { Evidence } from './evidence.ts';
import type { WordingRule } from './verdict.ts';
import { authWording, bannedWording, permissionWording, softPermissionWording } from './wording-access.ts';
import {
  billingWording,
  loadingWording,
  overloadWording,
  plainRateWording,
  quotaWording,
  rateWording,
} from './wording-limits.ts';
import { googleMarks, providerWording } from './wording-providers.ts';
import {
  clearParameterWording,
  contentWording,
  contextWording,
  modelWording,
  outputParameterWording,
  parameterWording,
  sizeWording,
  toolWording,
} from './wording-request.ts';
import {
  brokenWording,
  cancelWording,
  networkWording,
  responseWording,
  serverWording,
  streamWording,
  timeoutWording,
  unreachedWording,
} from './wording-transport.ts';

export interface WordingRules {
  readonly overriding: readonly WordingRule[];
  readonly plain: readonly WordingRule[];
}

/** What a provider says about a request it has read. */
const aboutRequests: readonly WordingRule[] = [
  ...bannedWording,
  ...contentWording,
  ...sizeWording,
  ...contextWording,
  ...outputParameterWording,
  ...quotaWording,
  ...clearParameterWording,
  ...loadingWording,
  ...overloadWording,
  ...permissionWording,
  ...authWording,
  ...plainRateWording,
  ...billingWording,
  ...rateWording,
  ...modelWording,
  ...softPermissionWording,
];

/** What stands between us and an answer. */
const aboutTransport: readonly WordingRule[] = [
  ...timeoutWording,
  ...cancelWording,
  ...streamWording,
  ...networkWording,
  ...responseWording,
];

/** Which sentences can be meant: a provider that refused a request (4xx) does not speak of our sockets. */
const commonRules = {
  refused: [...toolWording, ...aboutRequests, ...parameterWording],
  failed: [
    ...toolWording,
    ...brokenWording,
    ...aboutRequests,
    ...timeoutWording,
    ...unreachedWording,
    ...serverWording,
  ],
  open: [
    ...toolWording,
    ...brokenWording,
    ...aboutRequests,
    ...aboutTransport,
    ...parameterWording,
    ...serverWording,
  ],
} as const satisfies Record<string, readonly WordingRule[]>;

type Situation = keyof typeof commonRules;

const common = rulesWith([]);
const byProvider = new Map(
  Object.entries(providerWording).map(([provider, own]) => [provider, rulesWith(own)]),
);

/** The sentences to look for, in order: the provider's own first. */
export function wordingFor({ provider, status, text }: Evidence): WordingRules {
  const known = byProvider.get(provider) ?? (googleMarks.test(text) ? byProvider.get('gemini') : undefined);
  return (known ?? common)[situationOf(status)];
}

function situationOf(status: number | undefined): Situation {
  if (status === undefined || status < 400 || status === 408 || status === 499) return 'open';
  return status < 500 ? 'refused' : 'failed';
}

/** Every rule with the provider it belongs to, for the tests that hold each to its sentence. */
export function allWording(): readonly { readonly provider: string; readonly rule: WordingRule }[] {
  const shared = commonRules.open.map((rule) => ({ provider: '', rule }));
  const special = Object.entries(providerWording).flatMap(([provider, rules]) =>
    rules.map((rule) => ({ provider, rule })),
  );
  return [...shared, ...special];
}

function rulesWith(own: readonly WordingRule[]): Readonly<Record<Situation, WordingRules>> {
  return {
    refused: split([...own, ...commonRules.refused]),
    failed: split([...own, ...commonRules.failed]),
    open: split([...own, ...commonRules.open]),
  };
}

function split(rules: readonly WordingRule[]): WordingRules {
  return {
    overriding: rules.filter((rule) => rule.overrides === true),
    plain: rules.filter((rule) => rule.overrides !== true),
  };
}
