import { unreachable } from '../../base/assert.ts';
import type { Random } from '../../base/clock.ts';
import type { Reply } from '../reply.ts';
import type { Route } from '../route.ts';
import type { Spelling } from '../spell.ts';
import type { Pace, Step } from '../steps.ts';
import type { WireAnswer, WireEvent } from '../wire/wire-answer.ts';

/** What a fault is told besides its name. */
export type FaultParameters = Readonly<Record<string, string | number | boolean>>;

/** The request at which a fault happens. */
export interface Occasion {
  readonly route: Route;
  readonly parameters: FaultParameters;
  readonly requestId: string;
  readonly toolNames: readonly string[];
  /** Of this server, as the client reached it. */
  readonly origin: string;
  readonly path: string;
  readonly random: Random;
  readonly wallMs: number;
  readonly pace: Pace;
}

/** Where a fault lies. */
export type FaultGroup = 'refusal' | 'connection' | 'body' | 'stream' | 'answer';

/**
 * One fault. It bends one stage on the way from an answer to the socket, sometimes two; the stages that it leaves out stay
 * as they are: answer, events, spelling, reply, steps.
 */
export interface FaultRow {
  readonly summary: string;
  readonly group: FaultGroup;
  /** Every parameter with what it means. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Any provider does it now and then, and it does not hold the client up: drawn where nobody names kinds. */
  readonly isEveryday?: true;
  /** What the request must have. Elsewhere the answer is good, and the record says that nothing was delivered. */
  readonly needs?: FaultNeed;
  readonly answer?: (answer: WireAnswer, occasion: Occasion) => WireAnswer;
  readonly events?: (events: readonly WireEvent[], occasion: Occasion) => readonly WireEvent[];
  readonly spelling?: (occasion: Occasion) => Partial<Spelling>;
  readonly reply?: (reply: Reply, occasion: Occasion) => Reply;
  /** Nothing where the reply goes the ordinary way after all. */
  readonly steps?: (reply: Reply, occasion: Occasion) => Iterable<Step> | undefined;
}

export type FaultNeed = 'answer' | 'stream' | 'tools' | 'tls';

/** Why a fault cannot happen at this request, or nothing where it can. */
export function obstacleTo({ needs }: FaultRow, { route, toolNames }: Occasion): string | undefined {
  switch (needs) {
    case undefined:
      return undefined;
    case 'answer':
      return route.type === 'answer' ? undefined : 'the request does not ask a model for an answer';
    case 'stream':
      return isStream(route) ? undefined : 'the request does not ask for a stream of events';
    case 'tools':
      if (route.type !== 'answer') return 'the request does not ask a model for an answer';
      return toolNames.length > 0 ? undefined : 'the request offers no tool';
    case 'tls':
      return 'it happens while a TLS connection is made: set `tls`, and use a script or a rate';
    default:
      return unreachable(needs);
  }
}

export function isStream(route: Route): boolean {
  return route.type === 'answer' && route.framing === 'sse';
}

/** A parameter that is a number from 0 on. */
export function numberOf({ parameters }: Occasion, name: string): number | undefined {
  const value = parameters[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function wordOf({ parameters }: Occasion, name: string): string | undefined {
  const value = parameters[name];
  return value === undefined ? undefined : String(value);
}
