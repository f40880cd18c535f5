import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  classifyFailure,
  classifyProviderFailure,
  createFailure,
  EmbeddingError,
  failureCodes,
  renderFailure,
  RerailError,
  severityOf,
} from '../src/errors/index.ts';
import { callModel, createGates, retryPresets } from '../src/model/index.ts';
import type { CallOutcome, Model, RetryOption } from '../src/model/index.ts';
import { createModelRegistry } from '../src/providers/index.ts';
import { scriptedModel, simulatedClock } from '../src/testing/index.ts';
import type { ScriptEntry } from '../src/testing/index.ts';

// docs/coming-from.md promises that each concept of five other systems has a place here. This holds it to that.

const path = 'docs/coming-from.md';

/** What each of the five documents names, written down once, so that no row can silently vanish. */
const concepts: Readonly<Record<string, readonly string[]>> = {
  Orbiter: list(`
    OrbiterError, AgentError, ToolError, CallRunnerError, SwarmError, RegistryError, OutputParseError, ModelError, GraphError
    AgentError: duplicate tools, AgentError: no provider for a run, AgentError: retries used up
    AgentError: context length exceeded, ToolError: the name of the tool, FunctionTool, FunctionTool.execute
    CallRunnerError: endless loop; threshold 3, CallRunnerError: the agent failed, SwarmError: empty agent list
    SwarmError: duplicate names, SwarmError: invalid flow DSL, SwarmError: cycle, SwarmError: too many handoffs
    OutputParseError: invalid JSON in tool arguments, OutputParseError: structured output fails validation
    ModelError: API error; authentication; rate limit, RegistryError: duplicate, RegistryError: missing
    tool errors are captured; not propagated, ToolResult, tool_call_id, tool_name, content, error, _execute_tools
    _call_llm, max_retries, delay, asyncio.sleep(delay), _is_context_length_error, no retry for context length
    context length ends the run
    raise … from e, __cause__, ToolExecutionError, traceback.print_exception, call_runner, RunResult
    state.succeed, state.fail, node.fail, in tools: raise with context, @tool, HookPoint, HookPoint.PRE_TOOL_CALL
    raising in a hook aborts, except AgentError, except OrbiterError, run
    tool.execute, agent.run, swarm.run, output_parser, Registry.get
    summary: ModelError; raised by the provider SDK
  `),
  'Agent Harness': list(`
    AgentErrorCode, ModelErrorCode, ToolErrorCode, source of a code: Model; Tool; Agent; Any
    PROVIDER_NOT_CONFIGURED, PROVIDER_NOT_SUPPORTED, AUTHENTICATION_ERROR, RATE_LIMITED, MODEL_NOT_FOUND
    CONTEXT_LENGTH_EXCEEDED, NETWORK_ERROR, TIMEOUT, INVALID_RESPONSE, VALIDATION_ERROR, IO_ERROR, CONFIG_ERROR
    PERMISSION_DENIED, NOT_FOUND, LLM_ASSIST_REQUIRED, MAX_ITERATIONS_EXCEEDED, TOOL_EXECUTION_ERROR
    INITIALIZATION_ERROR, UNKNOWN
    retryable: RATE_LIMITED, retryable: NETWORK_ERROR, retryable: TIMEOUT, retryable: all others no
    AgentResponse<T>, AgentSuccessResponse<T>, AgentSuccessResponse.success, AgentSuccessResponse.result
    AgentSuccessResponse.message, AgentErrorResponse, AgentErrorResponse.success, AgentErrorResponse.error
    AgentErrorResponse.message, AgentErrorResponse.metadata
    ModelResponse<T>, ModelSuccessResponse<T>, ModelSuccessResponse.success, ModelSuccessResponse.result
    ModelSuccessResponse.message, ModelErrorResponse, ModelErrorResponse.success, ModelErrorResponse.error
    ModelErrorResponse.message, ModelErrorResponse.retryAfterMs
    Tools Layer: never throws, Model Layer: returns ModelResponse<T>, Agent Layer: returns Promise<string>
    CLI Layer: shows what a person understands, CLI Layer: resets cleanly, error flow: tool; agent; CLI
    Tool.Result, Tool.Result.title, Tool.Result.metadata, Tool.Result.output
    AgentCallbacks, onError, errorInfo, onDebug, Agent.run
    ProviderErrorMetadata, provider, model, statusCode, retryAfter, originalError
    successResponse, errorResponse, isAgentSuccess, isAgentError, mapModelErrorCodeToAgentErrorCode
    mapToolErrorCodeToAgentErrorCode, getUserFriendlyMessage, mapErrorToCode
    enabled, maxRetries, baseDelayMs, maxDelayMs, enableJitter, calculateExponentialBackoff, jitterMultiplier
    Retry-After: read, Retry-After: zero, Retry-After: wins over the backoff
    keywords decide first, api key, unauthorized, rate limit, 429, timeout, network, econnrefused, no keyword: UNKNOWN
    degradation: LLM parsing fails, degradation: history selection fails, degradation: telemetry fails
    degradation: summary generation fails, degradation: context storage fails, summarize, truncate
    user message: clear; actionable language, user message: no technical jargon, user message: suggest next steps
    good example: cannot connect; check the key, ECONNREFUSED
    debug message: full technical details, debug message: stack traces, debug message: not shown to users by default
    debug field error, stack, debug field provider, attempt
  `),
  Osprey: list(`
    ErrorNode, @infrastructure_node, BaseInfrastructureNode, ErrorNode.name, ErrorNode.description
    ErrorNode.classify_error, ErrorNode.execute, AIMessage
    principle: one error node for all, principle: context is preserved
    principle: the system goes on when a part fails, principle: technical errors become actionable
    ErrorSeverity, CRITICAL, RETRIABLE, REPLANNING, RECLASSIFICATION, FATAL
    ErrorClassification, ErrorClassification.severity, ErrorClassification.user_message, ErrorClassification.metadata
    classify_error, ConnectionError, TimeoutError, ValueError, TypeError, example: unknown errors are CRITICAL
    technical_details, safety_abort_reason, suggestions, replanning_reason, required_context
    all metadata goes to the LLM and the user
    ErrorContext, error_type, ErrorType, error_message, failed_operation, current_task, capability_name, error_metadata
    total_operations, execution_time, retry_count, successful_steps, failed_steps, error_classification
    _create_error_context_from_state, AgentState, task_current_task, control_has_error, control_error_info
    control_retry_count, node_name, original_error, user_message, classification
    no classification: CRITICAL
    StateManager.get_current_step_index, _generate_error_response, _build_structured_error_report
    report: heading with time, report: Error Type, report: Task, report: Failed Operation, report: Error Message
    report: Capability, report: Error Metadata, report: Execution Stats; total operations
    report: Execution Stats; execution time, report: Execution Stats; retry attempts
    _generate_llm_explanation, get_registry().get_capabilities_overview, get_framework_prompts
    get_error_analysis_prompt_builder, build_prompt, get_chat_completion, get_model_config("response"), max_tokens
    the explanation fails: a fixed sentence, _create_fallback_response
    router_conditional_edge, get_retry_policy, retry_policy, max_attempts, delay_seconds, backoff_factor
    time.sleep(actual_delay), example policy: 5; 2.0 s; 2.0
    route of RETRIABLE: same capability, orchestrator, classifier, route of CRITICAL: error
    route of FATAL: terminate at once, route of retries used up: error
    _populate_error_context, execution_step_results, step_index, capability, task_objective, success, BaseCapability
  `),
  Loom: list(`
    AgentError, AgentError::Llm, AgentError::Tool, AgentError::InvalidState, AgentError::Io, AgentError::Timeout
    AgentError::Internal
    LlmError, LlmError::Http, LlmError::Api, LlmError::Timeout, LlmError::InvalidResponse, LlmError::RateLimited
    retry_after_secs, Transient: yes; no; maybe
    ToolError, ToolError::NotFound, ToolError::InvalidArguments, ToolError::Io, ToolError::Timeout, ToolError::Internal
    ToolError::TargetNotFound, ToolError::PathOutsideWorkspace, ToolError::FileNotFound, ToolError::Serialization
    From<LlmError> for AgentError, From<ToolError> for AgentError, From<std::io::Error> for AgentError
    From<std::io::Error> for ToolError, std::io::Error, AgentResult<T>
    propagation: tool; registry; state machine; CLI, propagation: a wrapper keeps the type, DisplayError
    AgentState::CallingLlm, AgentState::Error, AgentState::WaitingForUserInput, AgentState::Error.conversation
    AgentState::Error.error, AgentState::Error.retries, AgentState::Error.origin, ConversationContext
    AgentEvent, AgentEvent::LlmEvent, LlmEvent::Error, AgentEvent::RetryTimeoutFired
    AgentAction, AgentAction::CallLlm, AgentAction::WaitForInput, AgentAction::DisplayError
    ErrorOrigin, ErrorOrigin::Llm, ErrorOrigin::Tool, ErrorOrigin::Io
    retry step 1: an error while calling, retry step 2: count and compare, retry step 3: wait as a state
    retry step 4: an outside timer fires, retry step 5: call again, retries used up: back to the user
    AgentConfig, max_retries, tool_timeout, llm_timeout
    CLI: coloured output, CLI: context preserved, CLI: recovery suggestions
    thiserror, anyhow, .context, Clone, thiserror: typed variants, thiserror: matching on variants
    thiserror: compile-time exhaustiveness, thiserror: API contract, recoverable or fatal
    log field error, retries, log field max_retries, from, to, tool_name
    practice: structured fields, practice: current state in the log, practice: retry counts in the log
    practice: operation identifiers in the log, error!, warn!, info!, debug!, %
  `),
  neuron: list(`
    LoopError, LoopError::Provider, LoopError::Tool, LoopError::Context, LoopError::MaxTurns, LoopError::HookTerminated
    LoopError::Cancelled
    From<ProviderError> for LoopError, From<ToolError> for LoopError, From<ContextError> for LoopError
    ProviderError, ProviderError::Network, ProviderError::RateLimit, ProviderError::ModelLoading, ProviderError::Timeout
    ProviderError::ServiceUnavailable, ProviderError::Authentication, ProviderError::InvalidRequest
    ProviderError::ModelNotFound, ProviderError::InsufficientResources, ProviderError::StreamError
    ProviderError::Other, ProviderError::is_retryable, retry_after
    EmbeddingError, EmbeddingError::Authentication, EmbeddingError::RateLimit, EmbeddingError::InvalidRequest
    EmbeddingError::Network, EmbeddingError::Other, EmbeddingError::is_retryable
    ToolError, ToolError::NotFound, ToolError::InvalidInput, ToolError::ExecutionFailed, ToolError::PermissionDenied
    ToolError::Cancelled, ToolError::ModelRetry, ModelRetry
    is_error, ToolUse, Args, PermissionPolicy, CancellationToken, ToolContext
    ContextError, ContextError::CompactionFailed, ContextError::Provider
    DurableError, DurableError::ActivityFailed, DurableError::Cancelled, DurableError::SignalTimeout
    DurableError::ContinueAsNew, DurableError::Other, wait_for_signal
    McpError, McpError::Connection, McpError::Initialization, McpError::ToolCall, McpError::Transport, McpError::Other
    HookError, HookError::Failed, HookError::Other, ObservabilityHook, HookAction::Terminate
    hook errors do not stop the loop
    StorageError, StorageError::NotFound, StorageError::Serialization, StorageError::Io, StorageError::Other
    SandboxError, SandboxError::ExecutionFailed, SandboxError::SetupFailed, SandboxError::Other
    retry loop in the application, tower::retry, principle: two levels at most, principle: thiserror everywhere
    principle: concise display with the data, principle: sources are linked
    principle: retryable is decided at the source, principle: no built-in retry
    principle: ModelRetry is not an error
  `),
};

describe('docs/coming-from.md', () => {
  const page = parsePage(readFileSync(path, 'utf8'));

  it('keeps every promise of every row', () => {
    expect(findRowProblems(page, readRepositoryFile)).toEqual([]);
  });

  it('counts its rows right', () => {
    expect(findCountProblems(page)).toEqual([]);
  });

  it('lists every concept of the five documents', () => {
    expect(findMissingConcepts(page, concepts)).toEqual([]);
  });

  it('was really looked at: five systems, hundreds of rows and concepts', () => {
    expect(page.sections.map(({ name }) => name)).toEqual(Object.keys(concepts));
    const rows = page.sections.flatMap((section) => section.rows);
    expect(rows.length).toBeGreaterThan(400);
    expect(rows.filter((row) => stateOf(row) === 'built').length).toBeGreaterThan(200);
    expect(Object.values(concepts).flat().length).toBeGreaterThan(350);
  });
});

describe('the checker of the page', () => {
  const files = new Map([
    ['src/a.ts', 'export function makeIt() {}\nexport const limit = { max: 1 };\n'],
    ['src/b.ts', "export type Kind = 'retry-after';\n"],
    ['src/a.test.ts', "describe('makeIt()', () => {\n  it('gives up', () => {});\n});\n"],
    ['docs/decisions/why.md', '# Why\n'],
  ]);
  const readPlanted = (file: string): string | undefined => files.get(file);
  const sound = [
    '| `Maker` | `makeIt()`, bounded by `limit.max` | `src/a.ts` | `src/a.test.ts`: "makeIt() > gives up" |',
    '| `Kinds` | `makeIt` and `retry-after` | `src/a.ts`, `src/b.ts` | `src/a.test.ts`: "gives up" |',
    '| `Later` | _laterOn_ | not built yet | not built yet |',
    '| `Never` | not taken over: it `hides` things | `docs/decisions/why.md` | none |',
  ];

  it('accepts a sound page', () => {
    const page = parsePage(pageOf(sound));
    expect(page.sections.flatMap(({ rows }) => rows.map(stateOf))).toEqual([
      'built',
      'built',
      'planned',
      'left-out',
    ]);
    expect(findRowProblems(page, readPlanted)).toEqual([]);
    expect(findCountProblems(page)).toEqual([]);
    expect(findMissingConcepts(page, { Sun: ['Maker', 'Kinds', 'Later', 'Never'] })).toEqual([]);
  });

  it.each([
    [
      'a missing file',
      '| `X` | `makeIt` | `src/none.ts` | `src/a.test.ts`: "gives up" |',
      ['the file "src/none.ts" does not exist'],
    ],
    [
      'a file outside the repository',
      '| `X` | `makeIt` | `../src/a.ts` | `src/a.test.ts`: "gives up" |',
      ['the file "../src/a.ts" does not exist'],
    ],
    [
      'no file at all',
      '| `X` | `makeIt` | somewhere | `src/a.test.ts`: "gives up" |',
      ['it names no file', '"makeIt" does not stand in its file'],
    ],
    [
      'a name that the file does not hold',
      '| `X` | `makeIt`, `makeI` | `src/a.ts` | `src/a.test.ts`: "gives up" |',
      ['"makeI" does not stand in its file'],
    ],
    [
      'a member that the file does not hold',
      '| `X` | `limit.min` | `src/a.ts` | `src/a.test.ts`: "gives up" |',
      ['"limit.min" does not stand in its file'],
    ],
    [
      'code that is no name',
      '| `X` | `makeIt(1)` | `src/a.ts` | `src/a.test.ts`: "gives up" |',
      ['"makeIt(1)" is no name'],
    ],
    [
      'a built row without a name',
      '| `X` | something | `src/a.ts` | `src/a.test.ts`: "gives up" |',
      ['it is built and names nothing'],
    ],
    [
      'a built row with a planned name',
      '| `X` | `makeIt`, later _laterOn_ | `src/a.ts` | `src/a.test.ts`: "gives up" |',
      ['it is built and names "laterOn", which is not'],
    ],
    [
      'a missing test file',
      '| `X` | `makeIt` | `src/a.ts` | `src/none.test.ts`: "gives up" |',
      ['the test file "src/none.test.ts" does not exist'],
    ],
    [
      'a wrong test name',
      '| `X` | `makeIt` | `src/a.ts` | `src/a.test.ts`: "makeIt() > goes on" |',
      ['"src/a.test.ts" has no test "goes on"'],
    ],
    [
      'a test without a name',
      '| `X` | `makeIt` | `src/a.ts` | `src/a.test.ts` |',
      ['its test is not written as `path`: "title"'],
    ],
    [
      'half a row that is not built',
      '| `X` | _laterOn_ | not built yet | `src/a.test.ts`: "gives up" |',
      ['only one of file and test says not built yet'],
    ],
    [
      'a row that is not built and names what exists',
      '| `X` | `makeIt` | not built yet | not built yet |',
      ['it is not built and has no name in italics', 'it is not built and names "makeIt" as if it were'],
    ],
    [
      'a code that has been built since',
      '| `X` | _RATE_LIMITED_ | not built yet | not built yet |',
      ['it says that "RATE_LIMITED" is not built, but the table of codes has it'],
    ],
    [
      'a refusal without a decision',
      '| `X` | not taken over: no | `src/a.ts` | none |',
      ['it is not taken over and names no decision page'],
    ],
    [
      'a refusal with a missing decision',
      '| `X` | not taken over: no | `docs/decisions/none.md` | none |',
      ['the file "docs/decisions/none.md" does not exist'],
    ],
    ['a row of three cells', '| `X` | `makeIt` | `src/a.ts` |', ['it has 3 cells instead of 4']],
    ['a row of five cells', '| `X` | `makeIt` | `src/a.ts` | a | b |', ['it has 5 cells instead of 4']],
    ['an empty cell', '| | `makeIt` | `src/a.ts` | `src/a.test.ts`: "gives up" |', ['it has an empty cell']],
    ['a row that stands twice', sound[2] ?? '', ['it stands there twice']],
  ])('reports exactly %s', (_, row, problems) => {
    const page = parsePage(pageOf([...sound, row]));
    const where = `Sun, "${cellsOf(row)[0]}"`;
    expect(findRowProblems(page, readPlanted)).toEqual(problems.map((problem) => `${where}: ${problem}`));
  });

  it('reports exactly a missing concept, and one that stands in another section', () => {
    const page = parsePage(`${pageOf(sound)}\n## Moon\n\n0 rows\n`);
    const wanted = { Sun: ['Maker', 'Make', 'Kinds'], Moon: ['Maker'], Mars: ['Rock'] };
    expect(findMissingConcepts(page, wanted)).toEqual([
      'Sun does not list "Make"',
      'Moon does not list "Maker"',
      'Mars does not list "Rock"',
    ]);
  });

  it.each([
    ['Sun', 'Here 4 rows: 3 built, 1 not built yet, 1 not taken over.'],
    ['Sun', 'Here 5 rows: 2 built, 1 not built yet, 1 not taken over.'],
    ['Sun', 'Nothing was counted.'],
  ])('reports exactly a wrong count of %s: %s', (name, sentence) => {
    const right = '4 rows: 2 built, 1 not built yet, 1 not taken over';
    const page = parsePage(pageOf(sound).replace(`Here ${right}.`, sentence));
    expect(findCountProblems(page)).toEqual([`${name} must say "${right}"`]);
  });

  it('reports exactly a wrong total', () => {
    const page = parsePage(pageOf(sound).replace('Together 4 rows', 'Together 9 rows'));
    expect(findCountProblems(page)).toEqual([
      'the opening must say "4 rows: 2 built, 1 not built yet, 1 not taken over"',
    ]);
  });

  it('takes no table for a list of rows but one with its four headings', () => {
    const page = parsePage('# A\n\n## Sun\n\n| code | meaning |\n| --- | --- |\n| `X` | x |\n');
    expect(page.sections.map(({ rows }) => rows.length)).toEqual([0]);
  });

  /** A page of one section, rightly counted for the four sound rows. */
  function pageOf(rows: readonly string[]): string {
    const count = '4 rows: 2 built, 1 not built yet, 1 not taken over';
    const head = ['| there | here | file | test |', '| :--- | --- | --- | --- |'];
    return ['# A', '', `Together ${count}.`, '', '## Sun', '', `Here ${count}.`, '', ...head, ...rows].join(
      '\n',
    );
  }
});

describe('what rows claim and no other test shows', () => {
  it('the table calls twelve codes retryable, and no others', () => {
    const retryable = failureCodes.filter((code) => createFailure(code, { message: 'it broke' }).retryable);
    expect(retryable.toSorted()).toEqual([
      'EMPTY_RESPONSE',
      'INVALID_RESPONSE',
      'MODEL_LOADING',
      'NETWORK_ERROR',
      'OVERLOADED',
      'RATE_LIMITED',
      'SERVER_ERROR',
      'SIGNAL_TIMEOUT',
      'STORAGE_LOCKED',
      'STREAM_INTERRUPTED',
      'TIMEOUT',
      'TOOL_CALL_INVALID',
    ]);
  });

  it('values that do not fit ask for another plan, what nobody knows is critical', () => {
    const misfit = classifyFailure({ issues: [{ message: 'must be a number', path: ['cents'] }] }, 'tool');
    expect([misfit.code, severityOf(misfit)]).toEqual(['VALIDATION_ERROR', 'replanning']);
    const odd = classifyFailure(new Error('odd'), 'flow');
    expect([odd.code, severityOf(odd)]).toEqual(['UNKNOWN', 'critical']);
  });

  it.each([
    ['AUTHENTICATION_ERROR', { status: 401 }, false],
    ['RATE_LIMITED', { status: 429 }, true],
    ['INVALID_REQUEST', { status: 400 }, false],
    ['NETWORK_ERROR', { code: 'ECONNREFUSED' }, true],
    ['UNKNOWN', {}, false],
    ['OVERLOADED', { status: 529 }, true],
    ['SERVER_ERROR', { status: 500 }, true],
  ])('an embedding fails in the same codes as a model, in its own family: %s', (code, fields, retryable) => {
    const thrown = Object.assign(new Error('it broke'), fields);
    const error = RerailError.from(classifyFailure(thrown, 'embedding'), { cause: thrown });
    expect(error).toBeInstanceOf(EmbeddingError);
    expect({ code: error.code, retryable: error.retryable }).toEqual({ code, retryable });
    expect(classifyFailure(thrown, 'model').code).toBe(code);
  });

  it('a 401 is about the credential, a 403 about the act', () => {
    expect(classifyProviderFailure({ status: 401 }).code).toBe('AUTHENTICATION_ERROR');
    expect(classifyProviderFailure({ status: 403 }).code).toBe('PERMISSION_DENIED');
  });

  it('the text for the model holds nothing of the context but the name of the tool', () => {
    for (const code of failureCodes) {
      const failure = createFailure(code, {
        message: 'it broke',
        context: { tool: 'search', note: 'heliotrope', nested: { more: 'heliotrope' } },
      });
      expect(renderFailure(failure, 'model')).not.toContain('heliotrope');
      expect(renderFailure(failure, 'person')).not.toContain('heliotrope');
      expect(renderFailure(failure, 'developer')).toContain('heliotrope');
    }
  });

  it('a registry refuses a name that is taken unless it may replace it, and says what was probably meant', () => {
    const models = createModelRegistry();
    const own = (name: string): Model => ({ ...scriptedModel(['Hello']), name });
    expect(() => models.register('ollama', own)).toThrow(
      expect.objectContaining({ code: 'ALREADY_REGISTERED' }),
    );
    models.register('ollama', own, { replace: true });
    expect(models.resolve('ollama:llama3.2')).toMatchObject({ provider: 'scripted', name: 'llama3.2' });
    expect(() => models.resolve('antropic:claude-sonnet-5')).toThrow(
      expect.objectContaining({
        code: 'NOT_REGISTERED',
        message: expect.stringContaining('"anthropic"') as string,
      }),
    );
  });

  it('a model gives a success with its result, or a failure with what had arrived, and nothing else', async () => {
    const model = scriptedModel(['Hello', { brokenAfter: 'Hel' }]);
    const [whole, broken] = [await model.call(request), await model.call(request)];
    expect(Object.keys(whole).toSorted()).toEqual(['result', 'type']);
    expect(whole).toMatchObject({ type: 'success', result: { text: 'Hello' } });
    expect(Object.keys(broken).toSorted()).toEqual(['failure', 'partial', 'type']);
    expect(broken).toMatchObject({ type: 'failure', failure: { code: 'STREAM_INTERRUPTED' } });
  });

  it('the standard policy makes four calls and waits 1, 2 and 4 s; none makes one call', async () => {
    const busy: ScriptEntry = { failure: 'OVERLOADED' };
    expect(retryPresets.standard).toMatchObject({ baseDelayMs: 1000, maxDelayMs: 10_000, jitter: 0.2 });
    expect(await play([busy])).toMatchObject({ calls: 4, delaysMs: [1000, 2000, 4000] });
    expect(await play([busy], 'none')).toMatchObject({ calls: 1, delaysMs: [] });
    expect(await play([busy], { maxAttempts: 1 })).toMatchObject({ calls: 1, delaysMs: [] });
  });

  it('a tool call whose arguments are not JSON is no answer: the model is asked once more', async () => {
    const garbled: ScriptEntry = { toolCalls: [{ name: 'search', argumentsText: '{"query":' }] };
    const mended = await play([garbled, 'Done.']);
    expect(mended).toMatchObject({ calls: 2, outcome: { type: 'success', result: { text: 'Done.' } } });
    const lost = await play([garbled]);
    expect(lost).toMatchObject({ calls: 2, outcome: { failure: { code: 'TOOL_CALL_INVALID' } } });
  });

  const request = { messages: [{ role: 'user', content: 'Hello' }] } as const;

  /** Calls a model that repeats the last entry for ever, in simulated time and with a jitter of nothing. */
  async function play(
    script: readonly ScriptEntry[],
    retry?: RetryOption,
  ): Promise<{
    readonly outcome: CallOutcome;
    readonly calls: number;
    readonly delaysMs: readonly number[];
  }> {
    const clock = simulatedClock();
    const model = scriptedModel(script, { repeat: 'last' });
    const delaysMs: number[] = [];
    const call = callModel(model, request, {
      clock,
      gates: createGates({ clock }),
      random: () => 0.5,
      policy: retry === undefined ? {} : { retry },
      onEvent: (event) => {
        if (event.type === 'recovery' && event.delayMs !== undefined) delaysMs.push(event.delayMs);
      },
    });
    return { outcome: await clock.runUntil(call), calls: model.calls.length, delaysMs };
  }
});

interface Row {
  readonly section: string;
  readonly cells: readonly string[];
}

interface Section {
  readonly name: string;
  readonly text: string;
  readonly rows: readonly Row[];
}

interface Page {
  readonly opening: string;
  readonly sections: readonly Section[];
}

type ReadFile = (file: string) => string | undefined;

/** Cuts the page at its second-level headings, and takes the rows of the tables with our four columns. */
function parsePage(markdown: string): Page {
  const [opening = '', ...parts] = markdown.split(/^## /m);
  const sections = parts.map((part) => {
    const [name = '', ...lines] = part.split('\n');
    const head = lines.findIndex((line) => cellsOf(line).join(' ') === 'there here file test');
    const table = head === -1 ? [] : lines.slice(head + 2);
    const end = table.findIndex((line) => !line.startsWith('|'));
    const rows = (end === -1 ? table : table.slice(0, end)).map((line) => ({
      section: name.trim(),
      cells: cellsOf(line),
    }));
    return { name: name.trim(), text: lines.slice(0, Math.max(head, 0)).join('\n'), rows };
  });
  return { opening, sections };
}

function cellsOf(line: string): readonly string[] {
  if (!line.startsWith('|')) return [];
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

const notBuilt = 'not built yet';

function stateOf({ cells: [, here = '', file] }: Row): 'built' | 'planned' | 'left-out' {
  if (file === notBuilt) return 'planned';
  return here.startsWith('not taken over: ') ? 'left-out' : 'built';
}

function findRowProblems({ sections }: Page, read: ReadFile): readonly string[] {
  const seen = new Set<string>();
  return sections
    .flatMap(({ rows }) => rows)
    .flatMap((row) => {
      const name = `${row.section}, "${row.cells[0]}"`;
      const problems = seen.has(name) ? ['it stands there twice'] : problemsOf(row, read);
      seen.add(name);
      return problems.map((problem) => `${name}: ${problem}`);
    });
}

function problemsOf(row: Row, read: ReadFile): readonly string[] {
  const { cells } = row;
  if (cells.length !== 4) return [`it has ${cells.length} cells instead of 4`];
  if (cells.includes('')) return ['it has an empty cell'];
  const [, here = '', file = '', test = ''] = cells;
  if ((file === notBuilt) !== (test === notBuilt)) return ['only one of file and test says not built yet'];
  const state = stateOf(row);
  if (state === 'planned') return plannedProblems(here);
  const isWithoutTest = state === 'left-out' && test === 'none';
  return [
    ...fileProblems(file, read),
    ...(state === 'built' ? nameProblems(here, file, read) : decisionProblems(file)),
    ...(isWithoutTest ? [] : testProblems(test, read)),
  ];
}

function plannedProblems(here: string): readonly string[] {
  const planned = italicsOf(here);
  const built = planned.filter((name) => (failureCodes as readonly string[]).includes(name));
  return [
    ...(planned.length === 0 ? ['it is not built and has no name in italics'] : []),
    ...codeOf(here).map((name) => `it is not built and names "${name}" as if it were`),
    ...built.map((name) => `it says that "${name}" is not built, but the table of codes has it`),
  ];
}

function fileProblems(cell: string, read: ReadFile): readonly string[] {
  const files = codeOf(cell);
  if (files.length === 0) return ['it names no file'];
  return files.filter((file) => read(file) === undefined).map((file) => `the file "${file}" does not exist`);
}

function decisionProblems(cell: string): readonly string[] {
  const isDecided = codeOf(cell).some((file) => /^docs\/decisions\/.+\.md$/.test(file));
  return isDecided ? [] : ['it is not taken over and names no decision page'];
}

/** Each name in code font must stand in one of the files, with every part of `a.b` as a word of its own. */
function nameProblems(here: string, cell: string, read: ReadFile): readonly string[] {
  const texts = codeOf(cell)
    .map(read)
    .filter((text) => text !== undefined);
  // A file that is missing has been reported, and holds nothing that could be looked for.
  if (texts.length === 0 && codeOf(cell).length > 0) return [];
  const names = codeOf(here);
  if (names.length === 0) return ['it is built and names nothing'];
  return [
    ...names.flatMap((name) => nameProblem(name, texts)),
    ...italicsOf(here).map((name) => `it is built and names "${name}", which is not`),
  ];
}

function nameProblem(name: string, texts: readonly string[]): readonly string[] {
  if (!/^[\w$-]+(?:\.[\w$-]+)*(?:\(\))?$/.test(name)) return [`"${name}" is no name`];
  const parts = name.replace('()', '').split('.');
  const stands = parts.every((part) => texts.some((text) => wordPattern(part).test(text)));
  return stands ? [] : [`"${name}" does not stand in its file`];
}

function wordPattern(word: string): RegExp {
  return new RegExp(String.raw`(?<![\w$-])${word.replaceAll('$', String.raw`\$`)}(?![\w$])`);
}

function testProblems(cell: string, read: ReadFile): readonly string[] {
  const [, file, titles] = /^`([^`]+)`: "([^"]+)"$/.exec(cell) ?? [];
  if (file === undefined || titles === undefined) return ['its test is not written as `path`: "title"'];
  const text = read(file);
  if (text === undefined) return [`the test file "${file}" does not exist`];
  const missing = titles.split(' > ').filter((title) => !text.includes(title));
  return missing.map((title) => `"${file}" has no test "${title}"`);
}

function findCountProblems({ opening, sections }: Page): readonly string[] {
  const all = sections.flatMap(({ rows }) => rows);
  const parts = [
    { name: 'the opening', text: opening, rows: all },
    ...sections.map(({ name, text, rows }) => ({ name, text, rows })),
  ];
  return parts
    .map(({ name, text, rows }) => ({ name, text: text.replaceAll(/\s+/g, ' '), wanted: countOf(rows) }))
    .filter(({ text, wanted }) => !new RegExp(String.raw`(?<!\d)${wanted}\b`).test(text))
    .map(({ name, wanted }) => `${name} must say "${wanted}"`);
}

function countOf(rows: readonly Row[]): string {
  const count = (state: ReturnType<typeof stateOf>): number =>
    rows.filter((row) => stateOf(row) === state).length;
  return `${rows.length} rows: ${count('built')} built, ${count('planned')} ${notBuilt}, ${count('left-out')} not taken over`;
}

/** A concept is listed where it is a name in the first column, with or without brackets, or the whole of it. */
function findMissingConcepts(
  { sections }: Page,
  wanted: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  return Object.entries(wanted).flatMap(([section, names]) => {
    const cells = sections
      .filter(({ name }) => name === section)
      .flatMap(({ rows }) => rows.map(({ cells: [there = ''] }) => there));
    const listed = new Set(
      cells.flatMap((cell) => [
        ...codeOf(cell).map((name) => name.replace(/\(\)$/, '')),
        cell.replaceAll('`', ''),
      ]),
    );
    return names.filter((name) => !listed.has(name)).map((name) => `${section} does not list "${name}"`);
  });
}

function codeOf(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** What stands between underscores that begin and end a word; underscores within a name are part of it. */
function italicsOf(cell: string): readonly string[] {
  const text = cell.replaceAll(/`[^`]+`/g, '');
  return [...text.matchAll(/(?<!\w)_(\S(?:.*?\S)?)_(?!\w)/g)].map(([, name = '']) => name);
}

/** Names set off by commas or line ends; a semicolon stands for a comma within one. */
function list(names: string): readonly string[] {
  return names
    .split(/[,\n]/)
    .map((name) => name.trim().replaceAll(';', ','))
    .filter((name) => name !== '');
}

function readRepositoryFile(file: string): string | undefined {
  const isOurs = !file.startsWith('/') && !file.split('/').includes('..');
  if (!isOurs || !existsSync(file) || !statSync(file).isFile()) return undefined;
  return readFileSync(file, 'utf8');
}
