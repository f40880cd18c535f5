// Table: sentences about the request itself: tool calls, content, length, size, model, parameters. The first match wins.

import type { WordingRule } from './verdict.ts';

/** Calls and results that do not pair are broken history; a call the model garbled may come out well next time. */
export const toolWording: readonly WordingRule[] = [
  {
    code: 'TOOL_CALL_INVALID',
    retryable: false,
    overrides: true,
    pattern:
      /tool_use.{0,40}(?:ids? )?(?:were |was )?(?:found )?without.{0,20}tool_result|tool_result.{0,60}(?:must have|corresponding|without|immediately after)|unexpected tool_use_id|each tool_(?:use|result)|tool_use blocks? (?:can only|must)|duplicate.{0,20}tool_(?:use|result|call)|tool_(?:use|call) ids must be unique/,
    seen: 'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01.',
  },
  {
    code: 'TOOL_CALL_INVALID',
    retryable: false,
    overrides: true,
    pattern:
      /tool_calls? must be followed by tool|(?:insufficient|missing) tool messages|role:? tool must be a (?:response|reply)|must be a response to a (?:preceding|preceeding) message with tool_calls|tool_call_id.{0,40}(?:not found|did not have|does not (?:exist|match)|missing|invalid)|did not have response messages|no tool (?:output|call|result)s? found for|no (?:function|tool) call found for|tool results? (?:tool )?id.{0,60}not found|not the same number of function calls and responses|unexpected role tool after|tool (?:message|result)s?.{0,40}(?:no|without|matching).{0,30}(?:tool.?call|previous)/,
    seen: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
  },
  {
    code: 'TOOL_CALL_INVALID',
    retryable: false,
    overrides: true,
    pattern:
      /expected tooluse|expected toolresult|toolresult blocks?.{0,60}(?:exceed|tooluse|expected|match)|tooluse.{0,40}toolresult|function response (?:turn|parts?).{0,80}function call|function call turn|number of function (?:response|call) parts|invalid function arguments|arguments must be (?:a )?valid json|tool call and (?:its )?(?:result|response)|tool call result does not follow/,
    seen: 'Please ensure that function response turn comes immediately after a function call turn.',
  },
  {
    code: 'TOOL_CALL_INVALID',
    overrides: true,
    pattern:
      /malformed (?:function|tool).?call|failed to (?:call a function|parse (?:tool|function|xml)|generate (?:a )?(?:valid )?(?:tool|function))|(?:error|failed) parsing tool.?call|unexpected tool.?call|invalid (?:sequence|output) as part of tooluse|did not call a tool|call(?:ed)? (?:an )?(?:unavailable|unknown|undefined|nonexistent|non-existent) (?:tool|function)|no such tool|nosuchtoolerror|function call.{0,40}(?:is )?invalid|tool call validation failed|(?:attempted|tried) to call tool.{0,60}not in request|invalid tool.?call|finish_?reason.{0,12}(?:malformed_function_call|unexpected_tool_call)|model produced (?:an )?invalid|could not parse tool/,
    seen: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
  },
];

/** What was blocked for its content. */
export const contentWording: readonly WordingRule[] = [
  {
    code: 'CONTENT_FILTERED',
    overrides: true,
    pattern:
      /content.(?:filter|management polic|polic(?:y|ies) violat|moderation|exists risk)|filtered due to|(?:response|output|prompt|content) was filtered|blocked by (?:\w+ )?(?:content|safety|our|the safety|guardrail)|usage polic(?:y|ies)|safety (?:system|filter|setting|reason|check|rating|classifier)|was flagged|(?:flagged|rejected|blocked) (?:as|for|because|by|due to|under).{0,60}(?:violat|safety|polic|moderation|risk|sensitive|harm|content)|inappropriate content|considered high risk|prohibited(?:_| )content|acceptable use policy|moderation|responsible ai/,
    seen: 'The response was filtered due to the prompt triggering our content management policy.',
  },
  {
    code: 'CONTENT_FILTERED',
    overrides: true,
    pattern:
      /block_?reason ?[:=] ?(?!null|none|unspecified)[<\w]|prompt was blocked|response was blocked|blocked due to|prompt injection|safety_check|violat\w+ (?:\w+ )?usage guidelines|finish_?reason.{0,4}(?:\w+\.)?(?:safety|recitation|prohibited_content|blocklist|spii|content_filter)|rephrase (?:your|the) (?:prompt|request|question)|unsafe content|sensitive (?:content|information|words?)|may contain (?:\w+ )?(?:sensitive|unsafe|copyright)|violat\w+ (?:of )?(?:our|the|openai|xai|google|anthropic)\S{0,20} (?:\w+ ){0,3}(?:polic|guideline|terms)|敏感|不安全|违规|内容安全|风险/,
    seen: 'Response blocked. promptFeedback block_reason: OTHER',
  },
];

/** Only the output parameter is wrong: nothing to compact. Stands before the window, whose words it borrows. */
export const outputParameterWording: readonly WordingRule[] = [
  {
    code: 'INVALID_REQUEST',
    overrides: true,
    pattern:
      /max(?:_completion|_output)?_?.?tokens?:? (?:must be|should be|cannot|is too large|\d+ ?>|exceeds? the (?:maximum|model)|to be)|maximum allowed number of output tokens|max_tokens is too large|(?:maximum|max) output|supports at most \d+ completion tokens|range of max_tokens|maxoutputtokens|invalid max_tokens|maximum tokens you requested exceeds|max_tokens.{0,30}(?:less than or equal|at most|must be)/,
    seen: 'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet',
  },
];

/** The window, in the words of each engine. */
export const contextWording: readonly WordingRule[] = [
  {
    code: 'CONTEXT_LENGTH_EXCEEDED',
    overrides: true,
    pattern:
      /prompt is too long|prompt (?:length|token count|tokens?).{0,60}exceed|(?:maximum|max) (?:prompt|input) (?:length|tokens?|token count)|(?:prompt|input|context|conversation|messages?|text|tokens?)(?: \w+){0,3} too long|request is too long|too long for (?:requested|this|the) model|超长/,
    seen: 'prompt is too long: 213462 tokens > 200000 maximum',
  },
  {
    code: 'CONTEXT_LENGTH_EXCEEDED',
    overrides: true,
    pattern:
      /maximum context length|less than the context length|max_seq_len|context the overflows|context length of only|context (?:length|window|size|limit)s? (?:of \S+ )?(?:has been |is |was |are )?(?:exceed|reach|overflow|full|too)|exceed\w{0,3} (?:\w+ ){0,5}context(?: |_)?(?:length|window|size|limit)|greater than the context length|(?:larger|longer|more) than (?:\w+ ){0,4}context|context(?:_| )length_exceeded|exceeds? (?:\w+ ){0,3}n_ctx|context overflow|does not fit (?:in|into) (?:\w+ )?context|ran out of room in the models? context|exceeded (?:model|the model).{0,12}token limit/,
    seen: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  },
  {
    code: 'CONTEXT_LENGTH_EXCEEDED',
    overrides: true,
    pattern:
      /(?:input|prompt|total)? ?tokens? (?:count |length |in )?(?:\(?\d+\)? )?(?:exceeds?|exceeded) (?:the )?(?:maximum|configured|context|limit|model)|input tokens exceed|token count.{0,20}exceeds|tokens? in the prompt cannot exceed|inputs? (?:tokens )?\+ max_(?:new_)?tokens|input length (?:and max_tokens|should be)|range of input length|must have less than \d+ tokens|reduce the length of the (?:messages|prompt|input)|size limit exceeded by \d+ tokens|requested tokens \(\d+\) exceed|tokens plus \d+|(?:larger|longer) than the (?:max|maximum) (?:\w+ )?(?:tokens|model length)|max_model_len|model.{0,20}token limit|answering your request will take/,
    seen: 'The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).',
  },
];

/** Bytes, pictures and files, and one request that no rate window can ever hold. */
export const sizeWording: readonly WordingRule[] = [
  {
    code: 'REQUEST_TOO_LARGE',
    overrides: true,
    pattern:
      /request too large for model|request (?:\w+ ){0,3}(?:exceeds|larger than) the maximum (?:usage )?size(?! allowed during)|(?:request|payload|body|entity|file|image|document|attachment|audio|video|content)(?: \w+){0,3} (?:is )?too (?:large|big)|request exceeds the maximum (?:size|allowed)|too large to be read|maximum (?:request )?(?:body|payload|file|image|upload) size|(?:body|payload|content).?(?:size|length) (?:limit|exceed)|exceeded limit on max bytes|payload size exceeds|body exceeded|max body size/,
    seen: 'Request too large for model `llama-3.1-8b` on tokens per minute (TPM): Limit 6000, Requested 9855',
  },
  {
    code: 'REQUEST_TOO_LARGE',
    overrides: true,
    pattern:
      /image(?: dimensions)? exceeds? (?:\w+ )?\d|image (?:dimensions|size)|dimensions exceed|exceeds? (?:the )?(?:\d+ ?mb|file size|size limit|maximum (?:file|image))|\d+ bytes ?> ?\d+ bytes|maximum of \d+ (?:pdf )?pages|too many (?:images|pdf pages|pages)|file size|length less than or equal to \d{7,}|string too long.{0,80}maximum length \d{6,}|string_above_max_length.{0,20}\d{6,}/,
    seen: 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  },
];

/** Unknown or retired models. */
export const modelWording: readonly WordingRule[] = [
  {
    code: 'MODEL_NOT_FOUND',
    pattern:
      /(?:model|deployment|endpoint)s?[:/]? ?(?:[^{.]|\.(?! )){0,80}?(?:does not exist|doesnt exist|do(?:es)? not exist|not exist\b|(?:was |is |were |could )?not (?:be )?found|no longer (?:available|supported|exists)|(?:has been|is|was) (?:decommissioned|deprecated|retired|removed|shut down|sunset|discontinued)|is not (?:a valid model|available|supported(?! (?:for|with|when|in combination))|served|registered|deployed|enabled)|isnt available|unavailable for|not a supported model)/,
    seen: 'The model `gpt-5.2-proo` does not exist or you do not have access to it.',
  },
  {
    code: 'MODEL_NOT_FOUND',
    pattern:
      /(?:unknown|invalid|unsupported|no such|non-serverless|unrecognized|not found the|unrecognised) model|end of (?:its )?life|could not resolve the foundation model|version \S{1,80} does not exist|specified version does not exist|model_not_found|not a valid model|no endpoints found|no models? (?:loaded|available|found)|(?<!by the )(?:model|model identifier|model name|model id)(?: \S+)? is (?:invalid|incorrect|unknown|unsupported)|invalid model (?:name|id)|model not (?:exist|supported|available)|no available channel|try pulling it first|(?:找不到|不存在).{0,10}模型|模型.{0,12}(?:不存在|未找到|下线)|not found for account|pull the model|model.{0,40}not supported for generatecontent/,
    seen: 'Invalid model name passed in model=gpt-9. Call `/v1/models` to view available models for your key.',
  },
];

/** What must change in the request, or what failed at the other side, said so clearly that a wrapper's words do not matter. */
export const clearParameterWording: readonly WordingRule[] = [
  {
    code: 'INVALID_REQUEST',
    overrides: true,
    pattern:
      /parse the json body of your request|array too long|missing conversation_config|failed to deserialize the json body|input is not supported|unsupported content|must be passed back|not a valid \S+ flavored json schema|should alternate|must alternate|parameter is illegal|api version is no longer|requires --\w|use \S{1,40} (?:api|endpoint) instead|is not supported for format|invalid beta flag|streaming is (?:strongly recommended|required)|extra inputs are not permitted|(?:unsupported|unknown|missing required) param(?:eter)?\b|invalid schema for|expected thinking or redacted_thinking|invalid signature in thinking|no endpoints found that support|input_schema does not support/,
    seen: 'We could not parse the JSON body of your request.',
  },
  {
    code: 'SERVER_ERROR',
    overrides: true,
    pattern:
      /failed to get response from provider|an error occurred while processing your request|the server had an error (?:while )?processing/,
    seen: 'An error occurred while processing your request. You can retry your request.',
  },
];

/** What must change in the request, where nothing more telling is said. */
export const parameterWording: readonly WordingRule[] = [
  {
    code: 'INVALID_REQUEST',
    pattern:
      /(?:unsupported|unknown|invalid|unrecognized|unexpected|missing|required|extra|additional)(?: \w+)? (?:parameter|argument|field|property|value|key|keyword|name|input|param|schema|json payload|request argument|type)s?\b|extra inputs are not permitted|is not permitted|must be (?:set|one of|a|an|less|greater|at least|at most|provided|followed|passed|between|non-?empty|unique|in|of)\b|(?:does|do|is|are|did) not support(?:ed)?\b|isnt supported|not supported|unsupported|malformed|invalid json|invalid (?:message|request|image|url|content|base64|tool|function|type|body|format|role|sequence|media)|cannot (?:both|be used|be specified|specify|contain)|field required|validation error|unprocessable|bad request|expected .{0,60}(?:but )?(?:got|found|received)|roles? must alternate|not allowed (?:for|with|when|in)/,
    seen: 'Unsupported parameter: temperature is not supported with this model.',
  },
];
