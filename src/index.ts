export type { ProcessSignals, SignalNotice, StopSignal } from './base/system-signals.ts';
export type { ContextOptions, ContextStrategy, TokenCounter } from './context/context-options.ts';
export type { ContextChoice, ContextView, OwnStrategy } from './context/own-strategy.ts';
export type { Claim, ErrorReport, RunExplanation } from './agent/report/error-report.ts';
export type { Hook, HookPoint } from './agent/hooks/hook.ts';
export type { LogEntry } from './agent/log.ts';
export type { RunLimits } from './agent/limits.ts';
export type { PermissionRule } from './agent/approval/permission.ts';
export type {
  ApprovalAnswer,
  InDoubtAnswer,
  QuestionAnswer,
  RunAnswer,
} from './agent/approval/run-answer.ts';
export type { RunEvent } from './agent/run-event.ts';
export type {
  NodeReport,
  PersonRequest,
  RunOutcome,
  RunRecovery,
  RunUsage,
  StopReason,
  SuspendReason,
} from './agent/run-outcome.ts';
export { classifyFailure } from './errors/classify-failure.ts';
export { classifyProviderFailure } from './errors/classify-provider-failure.ts';
export type { FailureCode, Origin } from './errors/codes.ts';
export { createFailure } from './errors/failure.ts';
export type { Failure } from './errors/failure.ts';
export { renderFailure } from './errors/render-failure.ts';
export { RerailError } from './errors/rerail-error.ts';
export type { Message } from './model/message.ts';
export type { Model } from './model/model.ts';
export type { ModelRequest } from './model/request.ts';
export { defineModel } from './providers/own/define-model.ts';
export type { ModelDefinition } from './providers/own/define-model.ts';
export { askPerson, warningsOf } from './model/define-tool.ts';
export type { PersonQuestion } from './model/define-tool.ts';
export type {
  BlobStore,
  Lease,
  Retention,
  RunPage,
  RunQuery,
  RunRow,
  RunStore,
  SessionRow,
  SessionStore,
  Store,
  StoreCheck,
  StoredEvent,
  StoredStatus,
} from './model/store/store.ts';
export type { Tool, ToolContext, ToolEffect } from './model/tool.ts';
export { callModel } from './runtime/model-call/call-model.ts';
export type { CallEvent, CallOptions, CallOutcome } from './runtime/model-call/call-model.ts';
export type { CallPolicy } from './runtime/model-call/call-policy.ts';
export type { AgentOptions, AgentPolicy } from './runtime/agent-options.ts';
export type { AgentCallbacks } from './runtime/watch/callbacks.ts';
export { createAgent } from './runtime/create-agent.ts';
export type { Agent } from './runtime/create-agent.ts';
export type { RunSnapshot } from './runtime/record/journal.ts';
export { createWorker } from './runtime/worker/create-worker.ts';
export type { Worker } from './runtime/worker/create-worker.ts';
export type { WorkerEvent, WorkerListener } from './runtime/worker/worker-event.ts';
export type { WorkerAgents, WorkerOptions } from './runtime/worker/worker-options.ts';
export { copyRuns } from './runtime/transfer/copy-runs.ts';
export { acceptSalvaged, salvageRuns } from './runtime/transfer/salvage-runs.ts';
export type { SalvagedRun, SalvagedRuns, SalvageOptions } from './runtime/transfer/salvage-runs.ts';
export type { ProvenRecords, ProvenRun, RunDamage } from './model/store/proven.ts';
export type { CopiedRuns, CopyOptions, CopyProgress } from './runtime/transfer/copy-runs.ts';
export { exportRun } from './runtime/transfer/export-run.ts';
export type { ExportOptions } from './runtime/transfer/export-run.ts';
export { forkRun } from './runtime/transfer/fork-run.ts';
export type { ForkPlace } from './runtime/transfer/fork-run.ts';
export { importRun } from './runtime/transfer/import-run.ts';
export type { ImportedRun, ImportOptions } from './runtime/transfer/import-run.ts';
export { replayRun } from './runtime/transfer/replay-run.ts';
export type { ReplayOptions, ReplaySource, ReplayStep } from './runtime/transfer/replay-run.ts';
export type { HistoryOptions } from './runtime/run/history-options.ts';
export { createLogHook } from './runtime/watch/logging.ts';
export type { ResumeOptions, RunInput, RunOptions } from './runtime/run/run-input.ts';
export type { ModelCallView, SelectModel } from './runtime/run/select-effect.ts';
export type { RunStream } from './runtime/watch/run-stream.ts';
export { tool } from './tools/tool.ts';
