import { adviseName } from '../base/nearest.ts';
import { causesOf } from './classify/causes.ts';
import { docsOf } from './codes.ts';
import type { FailureCode, Origin } from './codes.ts';
import { parseFailureDocument, readFailure, toFailureDocument } from './failure-document.ts';
import type { FailureDocument } from './failure-document.ts';
import { createFailure } from './failure.ts';
import type { Cause, Failure } from './failure.ts';
import { thrownOf } from './live-errors.ts';

// A symbol of the global registry, so that errors of a second copy of this package are recognised too.
const brand = Symbol.for('rerail.error');

/**
 * The root of everything Rerail throws: a failure, made throwable at the public edge. Made by `RerailError.from`.
 *
 * @example
 * if (RerailError.isInstance(error) && error.code === 'QUOTA_EXCEEDED') topUp(error.failure.provider);
 */
export class RerailError extends Error {
  /** Written out, because a bundler may rename the class. */
  static readonly family: string = 'RerailError';
  readonly failure: Failure;

  protected constructor(failure: Failure, options: { readonly cause?: unknown }) {
    super(failure.message, causeOption(failure, options));
    this.failure = failure;
    const family = families[failure.origin].family;
    // Not enumerable, as with every native error, so that a printed error shows its failure and nothing twice.
    Object.defineProperty(this, 'name', { value: family, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: family });
  }

  get code(): FailureCode {
    return this.failure.code;
  }

  get origin(): Origin {
    return this.failure.origin;
  }

  get retryable(): boolean {
    return this.failure.retryable;
  }

  /** Where its code is explained, in the documentation that the package ships: `docs/errors.md#rate_limited`. */
  get docs(): string {
    return docsOf(this.failure.code);
  }

  /**
   * The error of the family that the failure's origin asks for, with the thrown value as its `cause`. Of something that is no
   * failure it keeps what can be read.
   */
  static from(failure: Failure, options: { readonly cause?: unknown } = {}): RerailError {
    checkOptionNames(options);
    const readable = readFailure(failure);
    const Family = families[readable.origin];
    return new Family(readable, options);
  }

  /** Like `instanceof`, and also true across two copies of the package. */
  static isInstance<T extends RerailError>(
    this: { readonly family: string; readonly prototype: T },
    value: unknown,
  ): value is T {
    const family = brandOf(value);
    if (family === undefined) return false;
    return this.family === RerailError.family || this.family === family;
  }

  /** A versioned document for a worker, an HTTP body or a file; its JSON Schema is `rerail/errors/failure.schema.json`. */
  toJSON(): FailureDocument {
    return toFailureDocument(this.failure, this.name);
  }

  /** Brings a document back as a typed error. Throws a `SERIALIZATION_ERROR` that names the field where it is none. */
  static fromJSON(document: unknown): RerailError {
    const parsed = parseFailureDocument(document);
    const error = RerailError.from(parsed.failure);
    if (parsed.type === 'invalid') throw error;
    return error;
  }
}

/** What went wrong between us and a model. */
export class ModelError extends RerailError {
  static override readonly family = 'ModelError';
  declare readonly name: 'ModelError';
}
/** The same codes for embeddings. */
export class EmbeddingError extends RerailError {
  static override readonly family = 'EmbeddingError';
  declare readonly name: 'EmbeddingError';
}
/** What went wrong in a tool. */
export class ToolError extends RerailError {
  static override readonly family = 'ToolError';
  declare readonly name: 'ToolError';
}
/** What went wrong in the run itself, and whatever nobody places elsewhere. */
export class AgentError extends RerailError {
  static override readonly family = 'AgentError';
  declare readonly name: 'AgentError';
}
/** What went wrong while choosing what the model sees. */
export class ContextError extends RerailError {
  static override readonly family = 'ContextError';
  declare readonly name: 'ContextError';
}
/** An answer that does not have the shape it should. */
export class OutputParseError extends RerailError {
  static override readonly family = 'OutputParseError';
  declare readonly name: 'OutputParseError';
}
/** What went wrong between several agents. */
export class FlowError extends RerailError {
  static override readonly family = 'FlowError';
  declare readonly name: 'FlowError';
}
/** What went wrong in a hook. */
export class HookError extends RerailError {
  static override readonly family = 'HookError';
  declare readonly name: 'HookError';
}
/** What went wrong with saved data. */
export class StorageError extends RerailError {
  static override readonly family = 'StorageError';
  declare readonly name: 'StorageError';
}
/** What went wrong in a durable engine. */
export class DurableError extends RerailError {
  static override readonly family = 'DurableError';
  declare readonly name: 'DurableError';
}
/** What went wrong between us and an MCP server. */
export class McpError extends RerailError {
  static override readonly family = 'McpError';
  declare readonly name: 'McpError';
}
/** What went wrong in the sandbox. */
export class SandboxError extends RerailError {
  static override readonly family = 'SandboxError';
  declare readonly name: 'SandboxError';
}
/** A name that is taken or unknown. */
export class RegistryError extends RerailError {
  static override readonly family = 'RegistryError';
  declare readonly name: 'RegistryError';
}
/** A setting that is wrong; nothing was started. */
export class ConfigError extends RerailError {
  static override readonly family = 'ConfigError';
  declare readonly name: 'ConfigError';
}

/** The class that each origin throws. */
const families = {
  model: ModelError,
  embedding: EmbeddingError,
  tool: ToolError,
  agent: AgentError,
  context: ContextError,
  output: OutputParseError,
  flow: FlowError,
  hook: HookError,
  storage: StorageError,
  durable: DurableError,
  mcp: McpError,
  sandbox: SandboxError,
  registry: RegistryError,
  config: ConfigError,
} as const satisfies Record<Origin, typeof RerailError>;

function brandOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return Reflect.get(value, brand);
  } catch {
    return undefined; // A Proxy that throws is not one of ours.
  }
}

/** A failure that names no causes, with those of the error that was thrown for it. */
export function withCause(failure: Failure, cause: unknown): Failure {
  if (cause === undefined || cause === null || failure.causes.length > 0) return failure;
  return createFailure(failure.code, { ...failure, causes: causesOf(cause) });
}

function checkOptionNames(options: object): void {
  const unknown = Object.keys(options).find((name) => name !== 'cause');
  if (unknown === undefined) return;
  const message = `There is no option "${unknown.slice(0, 64)}" of RerailError.from(): ${adviseName(unknown, ['cause'])}`;
  throw RerailError.from(createFailure('CONFIG_ERROR', { message }));
}

function causeOption(failure: Failure, options: { readonly cause?: unknown }): { readonly cause?: unknown } {
  if ('cause' in options) return { cause: options.cause };
  const [first, ...rest] = failure.causes;
  return first === undefined ? {} : { cause: revive(first, rest) };
}

/** What was thrown where that was in this process; of a document or a record, a chain of errors with the stacks that it keeps. */
function revive(cause: Cause, [next, ...rest]: readonly Cause[]): unknown {
  const live = thrownOf(cause);
  if (live !== undefined) return live.thrown;
  const error = new Error(cause.message, next === undefined ? {} : { cause: revive(next, rest) });
  const frames = (cause.stack ?? []).map((frame) => `\n    ${frame}`).join('');
  // Its own stack would lead to this line.
  const stack = `${cause.name}: ${cause.message}${frames}`;
  for (const [key, value] of Object.entries({ name: cause.name, stack }))
    Object.defineProperty(error, key, { value, configurable: true, writable: true });
  return cause.code === undefined ? error : Object.assign(error, { code: cause.code });
}
