import { lazy } from '../../../base/lazy.ts';
import type { Evidence } from '../evidence.ts';
import { rulesOf } from './phrases.ts';
import type { Phrases } from './phrases.ts';
import { createRuleIndex } from './rule-index.ts';
import type { IndexedRule } from './rule-index.ts';
import type { WordingRule } from '../verdict.ts';
import { authWording, bannedWording, permissionWording, softPermissionWording } from './wording-access.ts';
import {
  billingWording,
  loadingWording,
  overloadWording,
  plainRateWording,
  quotaWording,
  rateWording,
} from './wording-limits.ts';
import { faintWording } from './wording-faint.ts';
import { foreignRequestWording, foreignTransportWording } from './wording-languages.ts';
import { googleWording, providerWording, soundsLikeGoogle } from './wording-providers.ts';
import {
  clearParameterWording,
  complaintWording,
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
  defectWording,
  memoryWording,
  networkWording,
  outageWording,
  responseWording,
  serverWording,
  streamWording,
  timeoutWording,
  unreachedWording,
} from './wording-transport.ts';

/** What a provider says about a request it has read. */
const aboutRequests: readonly Phrases[] = [
  ...bannedWording,
  ...contentWording,
  ...sizeWording,
  ...contextWording,
  ...outputParameterWording,
  ...quotaWording,
  ...clearParameterWording,
  ...memoryWording,
  ...loadingWording,
  ...overloadWording,
  ...permissionWording,
  ...authWording,
  ...plainRateWording,
  ...billingWording,
  ...rateWording,
  ...modelWording,
  ...softPermissionWording,
  ...foreignRequestWording,
];

/** What stands between us and an answer. */
const aboutTransport: readonly Phrases[] = [
  ...timeoutWording,
  ...cancelWording,
  ...streamWording,
  ...networkWording,
  ...responseWording,
  ...foreignTransportWording,
];

/** Which sentences can be meant: a provider that refused a request (4xx) does not speak of our sockets. */
const commonRules = {
  denied: [...toolWording, ...complaintWording, ...aboutRequests],
  refused: [...toolWording, ...complaintWording, ...outageWording, ...aboutRequests, ...parameterWording],
  failed: [
    ...toolWording,
    ...complaintWording,
    ...brokenWording,
    ...outageWording,
    ...aboutRequests,
    ...timeoutWording,
    ...cancelWording,
    ...unreachedWording,
    ...foreignTransportWording,
    ...serverWording,
    ...streamWording,
    ...networkWording,
    ...responseWording,
    ...parameterWording,
  ],
  open: [
    ...toolWording,
    ...defectWording,
    ...complaintWording,
    ...brokenWording,
    ...outageWording,
    ...aboutRequests,
    ...aboutTransport,
    ...parameterWording,
    ...serverWording,
  ],
} as const satisfies Record<string, readonly Phrases[]>;

type Situation = keyof typeof commonRules;

const index = lazy(() => createRuleIndex(allWording().map(({ rule }) => rule)));

/** Rules in order of precedence, the provider's own first. */
interface WordingRules {
  /** Finer than any code they come with. */
  readonly overriding: readonly IndexedRule[];
  readonly plain: readonly IndexedRule[];
}

/** Indexed when a text of such a provider and status first has to be classified. */
type RulesBySituation = Readonly<Record<Situation, () => WordingRules>>;

const common = rulesWith([]);
const byProvider = new Map(
  Object.entries(providerWording).map(([provider, own]) => [provider, rulesWith(own)]),
);
const behindGateways = new Map(
  Object.entries(providerWording).map(([provider, own]) => [provider, rulesWith([...googleWording, ...own])]),
);
const faint = lazy(() => index().indexed(rulesOf(faintWording)));

/** The sentences to look for in a text. */
export interface Wording extends WordingRules {
  /** Single words, for where nothing else decides. */
  readonly faint: readonly IndexedRule[];
  /** Which rules can match at all, by id. */
  readonly candidates: Uint8Array;
}

export function wordingFor({ provider, status }: Evidence, text: string): Wording {
  const rules = soundsLikeGoogle(text) ? viaGoogle(provider) : byProvider.get(provider);
  const { overriding, plain } = (rules ?? common)[situationOf(status)]();
  return { overriding, plain, faint: faint(), candidates: index().candidates(text) };
}

/** Google's sentences keep their meaning behind a gateway that has rules of its own. */
function viaGoogle(provider: string): RulesBySituation | undefined {
  return behindGateways.get(provider) ?? byProvider.get('gemini');
}

/** Statuses that speak of who asks or how often, not of what was asked. */
const deniedStatuses: ReadonlySet<number> = new Set([401, 402, 403, 407, 429]);

function situationOf(status: number | undefined): Situation {
  if (status === undefined || status < 400 || status === 408 || status === 499) return 'open';
  if (status >= 500 || status === 424) return 'failed';
  return deniedStatuses.has(status) ? 'denied' : 'refused';
}

/** Every rule with the provider it belongs to. */
export function allWording(): readonly { readonly provider: string; readonly rule: WordingRule }[] {
  const shared = new Set(rulesOf([...commonRules.open, ...commonRules.failed, ...faintWording]));
  const special = Object.entries(providerWording).flatMap(([provider, own]) =>
    rulesOf(own).map((rule) => ({ provider, rule })),
  );
  return [...[...shared].map((rule) => ({ provider: '', rule })), ...special];
}

function rulesWith(own: readonly Phrases[]): RulesBySituation {
  return {
    denied: lazy(() => split([...own, ...commonRules.denied])),
    refused: lazy(() => split([...own, ...commonRules.refused])),
    failed: lazy(() => split([...own, ...commonRules.failed])),
    open: lazy(() => split([...own, ...commonRules.open])),
  };
}

function split(tables: readonly Phrases[]): WordingRules {
  const rules = rulesOf(tables);
  return {
    overriding: index().indexed(rules.filter((rule) => rule.overrides === true)),
    plain: index().indexed(rules.filter((rule) => rule.overrides !== true)),
  };
}
