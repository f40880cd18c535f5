import type {
  GuardrailPoint,
  HookKind,
  HookPoint,
  ObserverHook,
  SkipPoint,
  TransformerPoint,
} from './hook.ts';

export type HookAction = 'continue' | 'modify' | 'skip' | 'halt';

/** Which actions a hook of a kind may answer with at a point. `null`: a hook of that kind has no business there. */
export const hookRules = {
  'run-start': { transformer: ['continue', 'modify'], guardrail: ['continue', 'halt'] },
  'before-model': { transformer: ['continue', 'modify', 'skip'], guardrail: ['continue', 'halt'] },
  'after-model': { transformer: ['continue', 'modify'], guardrail: ['continue', 'halt'] },
  'before-tool': { transformer: ['continue', 'modify', 'skip'], guardrail: ['continue', 'halt'] },
  'after-tool': { transformer: ['continue', 'modify'], guardrail: ['continue', 'halt'] },
  approval: { transformer: null, guardrail: ['continue', 'halt'] },
  // What has happened can only be looked at.
  failure: { transformer: null, guardrail: null },
  recovery: { transformer: null, guardrail: null },
  'run-end': { transformer: null, guardrail: null },
} as const satisfies {
  readonly [Point in HookPoint]: {
    readonly transformer: Point extends TransformerPoint ? TransformerActions<Point> : null;
    readonly guardrail: Point extends GuardrailPoint ? readonly ['continue', 'halt'] : null;
  };
};

type TransformerActions<Point> = Point extends SkipPoint
  ? readonly ['continue', 'modify', 'skip']
  : readonly ['continue', 'modify'];

export const hookPoints = Object.keys(hookRules) as readonly HookPoint[]; // Object.keys loses the key type.
export const hookKinds: readonly HookKind[] = ['observer', 'transformer', 'guardrail'];

/** The fields of a hook of any kind. */
export const hookFields: readonly (keyof ObserverHook)[] = ['name', 'kind', 'timeoutMs', 'on', 'onEvent'];

/** The same table for a kind that is only known as a value. An observer sees everything and decides nothing. */
export function legalActions(kind: HookKind, point: HookPoint): readonly HookAction[] | null {
  return kind === 'observer' ? observerActions : hookRules[point][kind];
}

const observerActions: readonly HookAction[] = ['continue'];
