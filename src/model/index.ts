export type { Clock, Random } from '../base/clock.ts';
export type { Json } from '../base/json.ts';
export type { Failure } from '../errors/failure.ts';
export type { ClassifyError, FailureEvidence, FailureVerdict } from '../providers/classify-error.ts';
export { defineModel } from '../providers/own/define-model.ts';
export type { ModelDefinition } from '../providers/own/define-model.ts';
export type { ModelPart } from '../providers/own/model-part.ts';
export { resilient } from '../interop/ai-sdk/resilient.ts';
export type { ResilientPolicy } from '../interop/ai-sdk/resilient-call.ts';
export type { Breaker, BreakerPolicy } from '../resilience/breaker.ts';
export type { AttemptRecord, CallRecovery, CallReport, RecoveryRecord } from '../resilience/call-report.ts';
export type { Gate, GatePolicy, GateState } from '../resilience/gate.ts';
export type { Ledger, LedgerLimits } from '../resilience/ledger.ts';
export { retryPresets } from '../resilience/retry-policy.ts';
export type { RetryOption, RetryPolicy, RetryPreset } from '../resilience/retry-policy.ts';
export { callEmbedding } from '../runtime/model-call/call-embedding.ts';
export type { EmbeddingCallOptions, EmbeddingOutcome } from '../runtime/model-call/call-embedding.ts';
export { callModel } from '../runtime/model-call/call-model.ts';
export type { CallEvent, CallOptions, CallOutcome } from '../runtime/model-call/call-model.ts';
export type { CallPolicy } from '../runtime/model-call/call-policy.ts';
export type { LoopEvent } from '../runtime/model-call/call-target.ts';
export { createGates } from '../runtime/model-call/gates.ts';
export type { Gates } from '../runtime/model-call/gates.ts';
export { createAssembly } from './assembly.ts';
export type { Assembled, Assembly } from './assembly.ts';
export type { Capabilities, SamplingOption } from './capabilities.ts';
export { checkRequest } from './check/check-request.ts';
export type { EmbedAllResponse } from './embed-all.ts';
export type { EmbeddingModel, EmbeddingResponse, EmbeddingResult, EmbedOptions } from './embedding.ts';
export type { Finish, FinishReason } from './finish.ts';
export type {
  AssistantPart,
  FilePart,
  ImagePart,
  MediaSource,
  Message,
  ProtocolName,
  ReasoningPart,
  Signature,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from './message.ts';
export type { AttemptOptions, Model, ModelResponse, ModelResult, PartialResult } from './model.ts';
export type { RequestNote } from './request-note.ts';
export { costOf } from './price.ts';
export type { Price } from './price.ts';
export type { JsonSchema, ModelRequest, ReasoningEffort, ToolChoice, ToolDefinition } from './request.ts';
export { settle } from './settle.ts';
export type { StreamPart } from './stream-part.ts';
export { defaultTimeouts } from './timeouts.ts';
export type { Timeouts } from './timeouts.ts';
export { parseToolArguments } from './tool-arguments.ts';
export type { ToolArguments } from './tool-arguments.ts';
export type { Usage } from './usage.ts';
