/**
 * Names of the OpenTelemetry conventions for generative AI (in development there, so they stand in one place here), and
 * those of ours for what the conventions do not know.
 */
export const attributes = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  agentName: 'gen_ai.agent.name',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  // Only with `recordContent`.
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  // Ours.
  runId: 'rerail.run_id',
  turn: 'rerail.turn',
  turns: 'rerail.turns',
  attempt: 'rerail.attempt',
  isProbe: 'rerail.is_probe',
  isResumed: 'rerail.is_resumed',
  costUsd: 'rerail.cost_usd',
  outcome: 'rerail.outcome',
  stopReason: 'rerail.stop_reason',
  recoveries: 'rerail.recoveries',
  recovery: 'rerail.recovery',
  reason: 'rerail.reason',
  delayMs: 'rerail.delay_ms',
  toolEnd: 'rerail.tool_end',
  limit: 'rerail.limit',
  breakerFrom: 'rerail.breaker.from',
  breakerTo: 'rerail.breaker.to',
  hook: 'rerail.hook',
  hookPoint: 'rerail.hook_point',
  afterMs: 'rerail.after_ms',
  strategy: 'rerail.history.strategy',
  savedTokens: 'rerail.history.saved_tokens',
} as const;

/** The values of `gen_ai.operation.name`; a span is called by it and by what it is about. */
export const operations = { agent: 'invoke_agent', chat: 'chat', tool: 'execute_tool' } as const;

/** What is measured, as histograms. */
export const metricNames = {
  tokens: 'gen_ai.client.token.usage',
  duration: 'gen_ai.client.operation.duration',
} as const;

/** What happens within a span. */
export const spanEvents = {
  retry: 'rerail.retry',
  recovery: 'rerail.recovery',
  failure: 'rerail.failure',
  breakerChanged: 'rerail.breaker_changed',
  argumentsRepaired: 'rerail.arguments_repaired',
  toolLate: 'rerail.tool_late',
  toolWarning: 'rerail.tool_warning',
  toolWithdrawn: 'rerail.tool_withdrawn',
  toolRestored: 'rerail.tool_restored',
  historyRepaired: 'rerail.history_repaired',
  historySelected: 'rerail.history_selected',
  agentChanged: 'rerail.agent_changed',
  storageFailed: 'rerail.storage_failed',
  storageRestored: 'rerail.storage_restored',
  historyCompacted: 'rerail.history_compacted',
  limitReached: 'rerail.limit_reached',
  approvalRequested: 'rerail.approval_requested',
  approvalAnswered: 'rerail.approval_answered',
  hookFailed: 'rerail.hook_failed',
  suspended: 'rerail.suspended',
} as const;

/** Providers that the conventions know by another name than we do. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['gemini', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['moonshot', 'moonshot_ai'],
  ['xai', 'x_ai'],
]);

/** The name of a provider as the conventions have it. */
export function providerName(provider: string): string {
  return providerNames.get(provider) ?? provider;
}
