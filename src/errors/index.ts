export type { Json } from '../base/json.ts';
export { redact, registerSecret } from '../base/redact.ts';
export { classifyFailure } from './classify-failure.ts';
export { classifyProviderFailure } from './classify-provider-failure.ts';
export type { ProviderFailureInput, ResponseHeaders } from './classify/evidence.ts';
export { exitCodes, failureCodes, failureTraits, origins, severities } from './codes.ts';
export type { FailureCode, Origin, Severity } from './codes.ts';
export type { FailureDocument } from './failure-document.ts';
export { createFailure, severityOf } from './failure.ts';
export type {
  Cause,
  ClassifiedBy,
  Failure,
  FailureDetails,
  Phase,
  ProviderFacts,
  SideEffect,
} from './failure.ts';
export { renderFailure } from './render-failure.ts';
export type { Audience, RenderOptions } from './render-failure.ts';
export {
  AgentError,
  ConfigError,
  ContextError,
  DurableError,
  EmbeddingError,
  FlowError,
  HookError,
  McpError,
  ModelError,
  OutputParseError,
  RegistryError,
  RerailError,
  SandboxError,
  StorageError,
  ToolError,
} from './rerail-error.ts';
