import type { WireTarget } from '../../protocol.ts';

/** What differs between the models and servers that speak Gemini's protocol. */
export interface GeminiDialect {
  /** Thinks by level instead of by budget, and refuses the first call of a turn without a signature. */
  readonly isThirdGeneration: boolean;
  readonly sendsCallIds: boolean;
  readonly isStream: boolean;
}

/** Reads the target's dialect; the generation is told from the model's name where nobody says it. */
export function geminiDialect({ dialect, model }: WireTarget): GeminiDialect {
  const { thinkingLevel, callIds, stream } = dialect;
  return {
    isThirdGeneration: typeof thinkingLevel === 'boolean' ? thinkingLevel : thirdGeneration.test(model),
    sendsCallIds: callIds !== false,
    isStream: stream !== false,
  };
}

const thirdGeneration = /(?:^|\/)gemini-(?:[3-9]|\d\d)/;
