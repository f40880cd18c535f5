// Table: sentences about the request itself: tool calls, content, length, size, model, parameters. The first match wins.

import { phrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';

/** Calls and results that do not pair are broken history; a call the model garbled may come out well next time. */
// prettier-ignore
export const toolWording: readonly Phrases[] = [
  phrases({ code: 'TOOL_CALL_INVALID', retryable: false, overrides: true }, () => [
    [/tool_use.{0,40}(?:ids? )?(?:were |was )?(?:found )?without.{0,20}tool_result/, 'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01.'],
    [/tool_result.{0,60}(?:must have|corresponding|without|immediately after)/, 'messages.4: `tool_result` blocks must have a matching `tool_use` block before them'],
    [/unexpected tool_use_id/, 'messages.3.content.0: unexpected `tool_use_id` found: toolu_02'],
    [/each tool_(?:use|result)/, 'each tool_use must have a single result. Found several for id toolu_03'],
    [/tool_use blocks? (?:can only|must)/, 'messages.0: `tool_use` blocks can only be in `assistant` messages'],
    [/duplicate.{0,20}tool_(?:use|result|call)/, 'Found duplicate `tool_result` blocks for toolu_05'],
    [/tool_(?:use|call) ids must be unique/, 'messages.5: `tool_use` ids must be unique'],
    [/tool_calls? must be followed by tool/, "An assistant message with 'tool_calls' must be followed by tool messages."],
    [/(?:insufficient|missing) tool messages/, '(insufficient tool messages following tool_calls message)'],
    [/role:? tool must be a (?:response|reply)/, 'Messages with role: tool must be a reply to a tool call.'],
    [/must be a response to a (?:preceding|preceeding) message with tool_calls/, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."],
    [/unexpected tool call id/, 'Unexpected tool call id abc123def in tool results'],
    [/tool use concurrency/, 'API Error: 400 due to tool use concurrency issues.'],
    [/tool results? (?:is|are) missing for/, 'AI_MissingToolResultsError: Tool result is missing for tool call call_demo.'],
    [/tool_call_id.{0,40}(?:not found|did not have|does not (?:exist|match)|missing|invalid)/, 'Invalid request: tool_call_id call_a7 is not found'],
    [/did not have response messages/, 'The following tool_call_ids did not have response messages: call_a1'],
    [/no tool (?:output|call|result)s? found for/, 'No tool output found for function call call_a2.'],
    [/no (?:function|tool) call found for/, 'No tool call found for function call output with call_id call_a3.'],
    [/tool results? (?:tool )?id.{0,60}not found/, "invalid params, tool result's tool id(call_a4) not found (2013)"],
    [/not the same number of function calls and responses/, 'Not the same number of function calls and responses'],
    [/unexpected role tool after/, "Unexpected role 'tool' after role 'user'"],
    [/tool (?:message|result)s?.{0,40}(?:no|without|matching).{0,30}(?:tool.?call|previous)/, 'Tool message at index 3 has no matching tool call'],
    [/expected tooluse/, 'Expected toolUse blocks at messages.1.content for the following Ids: tooluse_a5'],
    [/expected toolresult/, 'Expected toolResult blocks at messages.2.content for the following Ids: tooluse_a6'],
    [/toolresult blocks?.{0,60}(?:exceed|tooluse|expected|match)/, 'The number of toolResult blocks at messages.2 exceeds those of the previous turn.'],
    [/function response (?:turn|parts?).{0,80}function call/, 'Please ensure that function response turn comes immediately after a function call turn.'],
    [/function call turn/, 'Please ensure that function call turn comes immediately after a user turn.'],
    [/number of function (?:response|call) parts/, 'Please ensure that the number of function response parts is equal to the number of calls.'],
    [/invalid function arguments/, 'invalid params, invalid function arguments json string, tool_call_id: call_a8 (2013)'],
    [/arguments must be (?:a )?valid json/, 'Tool call arguments must be valid JSON.'],
    [/tool call and (?:its )?(?:result|response)/, 'invalid params, tool call and result not match (2013)'],
    [/tool call result does not follow/, 'invalid params, tool call result does not follow tool call (2013)'],
  ]),
  phrases({ code: 'TOOL_CALL_INVALID', overrides: true }, () => [
    [/malformed (?:function|tool).?call/, 'Malformed function call: print(default_api.search())'],
    [/failed to (?:call a function|parse (?:tool|function|xml)|generate (?:a )?(?:valid )?(?:tool|function))/, "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."],
    [/(?:error|failed) parsing tool.?call/, 'error parsing tool call: raw=\'{"city":\', err=unexpected end of JSON input'],
    [/unexpected tool.?call/, 'Unexpected tool call: the request declared no tools.'],
    [/invalid (?:sequence|output) as part of tooluse/, 'Model produced invalid sequence as part of ToolUse.'],
    [/did not call a tool/, 'Tool choice is required, but model did not call a tool'],
    [/invalid (?:json )?input for tool|tool \S+ not found in agent/, 'Invalid JSON input for tool search'],
    [/no valid tool call/, 'No valid tool call or response generated'],
    [/invalid arguments for tool|invalidtoolargumentserror/, 'AI_InvalidToolArgumentsError: Invalid arguments for tool search'],
    [/call(?:ed)? (?:an )?(?:unavailable|unknown|undefined|nonexistent|non-existent) (?:tool|function)/, "Model tried to call unavailable tool 'search_docs'."],
    [/no such tool/, 'Error: No such tool available: web_fetch'],
    [/nosuchtoolerror/, "AI_NoSuchToolError: model asked for 'lookup'"],
    [/function call (?:generated|produced|returned).{0,30}invalid/, 'The function call returned by the model is invalid.'],
    [/tool call validation failed/, 'Tool call validation failed: parameters for tool get_weather did not match schema'],
    [/(?:attempted|tried) to call tool.{0,60}not in request/, "attempted to call tool 'get_time' which was not in request.tools"],
    [/invalid tool call\b/, "Invalid tool call in the model's answer"],
    [/finish_?reason.{0,12}(?:malformed_function_call|unexpected_tool_call)/, 'Candidate finishReason: MALFORMED_FUNCTION_CALL'],
    [/model produced (?:an )?invalid (?:sequence|tool|function|call)/, 'The model produced an invalid tool call.'],
    [/could not parse tool/, 'Could not parse tool input as JSON.'],
  ]),
];

/** A parameter named by the provider as wrong. Stands before all that its name might remind of: 'Unknown parameter: safety_settings'. */
// prettier-ignore
export const complaintWording: readonly Phrases[] = [
  phrases({ code: 'INVALID_RESPONSE', overrides: true }, () => [
    [/no valid response generated/, 'no valid response generated'],
  ]),
  phrases({ code: 'MODEL_NOT_FOUND', overrides: true }, () => [
    [/is not a valid model\b/, 'overload-1 is not a valid model ID'],
    [/\bunknown model\b/, 'invalid params, unknown model demo-9 (2013)'],
  ]),
  phrases({ code: 'INVALID_REQUEST', overrides: true }, () => [
    [/(?:unknown|unsupported|unrecognized|unexpected) (?:request )?(?:parameter|argument|field|property|keyword|option)s?\b|invalid (?:option|proxy url|base url)/, "Unrecognized request argument supplied: moderation"],
    [/invalid value(?:: | at | for )/, "Invalid value: 'unsafe'. Supported values are: 'low' and 'high'."],
    [/must not be empty|unexpected endpoint or method/, 'Invalid prompt: messages must not be empty'],
    [/unknown name\b|is unsupported\b/, 'Invalid JSON payload received. Unknown name "throttle" at \'generation_config\': Cannot find field.'],
    [/(?:failed|unable|could not) (?:to )?(?:download|fetch|retrieve) (?:\w+ ){0,3}(?:image|file|url|media|document)/, 'Failed to download image: the remote server responded with 429 Too Many Requests.'],
    [/invalid image url|(?:tool list from|communicating with) mcp server/, 'Error retrieving tool list from MCP server: deepwiki. Http status code: 401 (Unauthorized)'],
    [/(?:vector store|thread|conversation|container|batch|assistant|upload)s? (?:with id )?(?:\S+ )?(?:is |was |has )?(?:not found|expired)/, 'Vector store with id vs_demo not found.'],
    [/(?:^|\| )file not found: /, 'File not found: file_demo'],
    [/extra inputs are not permitted/, 'max_retries: Extra inputs are not permitted'],
  ]),
];

/** What was blocked for its content. */
// prettier-ignore
export const contentWording: readonly Phrases[] = [
  phrases({ code: 'CONTENT_FILTERED', overrides: true }, () => [
    [/content.(?:filter|management polic|polic(?:y|ies) violat|moderation|exists risk)/, 'The prompt was stopped by the Azure content filter.'],
    [/filtered due to/, 'The response was filtered due to the prompt triggering our content management policy.'],
    [/(?:response|output|prompt|content) was filtered/, 'The generated output was filtered.'],
    [/blocked by (?:\w+ )?(?:content|safety|our|the safety|guardrail)/, 'Output blocked by content filtering policy'],
    [/usage polic(?:y|ies)/, 'Invalid prompt: it appears to go against our usage policies.'],
    [/safety (?:system|filters?|reasons?|check|classifier|policy)/, 'Your request was rejected as a result of our safety system.'],
    [/was flagged/, 'Your input was flagged.'],
    [/(?:flagged|rejected|blocked) (?:as|for|because|by|due to|under).{0,60}(?:violat|safety|polic|moderation|risk|sensitive|harm|content)/, 'Request rejected because of harmful text in the last message.'],
    [/inappropriate content/, 'Input data may contain inappropriate content.'],
    [/considered high risk/, 'The request was rejected because it was considered high risk'],
    [/prohibited(?:_| )content/, 'Stopped with PROHIBITED_CONTENT'],
    [/acceptable use policy/, 'This request goes against our Acceptable Use Policy.'],
    [/(?:failed|requires?|flagged by|blocked by|rejected by) (?:\w+ ){0,2}moderation\b|moderation (?:flag|block|fail|reject|polic)/, 'This model requires moderation, and your input was flagged.'],
    [/responsible ai (?:polic|practice|filter)/, 'The prompt could not be submitted. It may go against our Responsible AI practices.'],
    [/block_?reason ?[:=] ?(?!null|none|unspecified)[<\w]/, 'Response blocked. promptFeedback block_reason: OTHER'],
    [/prompt was blocked/, 'The prompt was blocked by the model.'],
    [/response was blocked/, 'The response was blocked.'],
    [/blocked due to/, 'Text not available. Candidate was blocked due to RECITATION'],
    [/prompt injection/, 'Potential prompt injection detected in the last message.'],
    [/safety_check/, 'Failed check: SAFETY_CHECK_TYPE_BIO'],
    [/reciting from copyrighted|finish.?reason(?: is|:) [34678]\b/, 'The model response did not complete successfully. Finish reason: 4.'],
    [/violat\w+ (?:\w+ )?usage guidelines/, 'Content violates usage guidelines. Team: demo'],
    [/finish_?reason.{0,4}(?:\w+\.)?(?:safety|recitation|prohibited_content|blocklist|spii|content_filter)/, 'Candidate finishReason: RECITATION'],
    [/rephrase (?:your|the) (?:prompt|request|question)/, "We can't answer this. Please rephrase your prompt."],
    [/unsafe content/, 'Unsafe content detected in the last message.'],
    [/sensitive (?:content|information|words?)/, 'The request failed because the input text contains sensitive information.'],
    [/may contain (?:\w+ )?(?:sensitive|unsafe|copyright)/, 'The output image may contain copyrighted material.'],
    [/violat\w+ (?:of )?(?:our|the|openai|xai|google|anthropic)\S{0,20} (?:\w+ ){0,3}(?:polic|guideline|terms)/, 'This prompt violates our terms of service.'],
    [/敏感(?!度)/, '输入内容包含敏感词'],
    [/不安全/, '系统检测到输入或生成内容可能不安全'],
    [/违规/, '输入内容违规，请修改后重试'],
    [/内容安全/, '未通过内容安全审核'],
    [/存在风险|高风险|风险内容|内容.{0,4}风险/, '输入内容存在风险，请修改后重试'],
  ]),
];

/** Only the output parameter is wrong: nothing to compact. Stands behind the window's own phrases, whose words it borrows. */
// prettier-ignore
export const outputParameterWording: readonly Phrases[] = [
  phrases({ code: 'INVALID_REQUEST', overrides: true }, () => [
    [/max(?:_completion|_output)?_?.?tokens?:? (?:must be|should be|cannot|is too large|\d+ ?>|exceeds? the (?:maximum|model)|to be)/, 'max_completion_tokens must be at least 1'],
    [/maximum allowed number of output tokens/, 'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens'],
    [/max(?:imum)? output (?:tokens?|for)|the maximum output/, 'max tokens must be at most 4096, the maximum output for this model.'],
    [/supports at most \d+ completion tokens/, 'This model supports at most 16384 completion tokens, whereas you provided 20000.'],
    [/range of max_tokens/, 'Range of max_tokens should be [1, 8192]'],
    [/maxoutputtokens/, 'Unable to submit request because it has a maxOutputTokens value of 70000.'],
    [/invalid max_tokens/, 'Invalid max_tokens value, the valid range is [1, 8192]'],
    [/maximum tokens you requested exceeds/, 'The maximum tokens you requested exceeds the model limit of 4096.'],
    [/max_tokens.{0,30}(?:less than or equal|at most|must be)/, '`max_tokens` must be less than or equal to `8192`'],
  ]),
];

/** The window, in the words of each engine. */
// prettier-ignore
export const contextWording: readonly Phrases[] = [
  phrases({ code: 'CONTEXT_LENGTH_EXCEEDED', overrides: true }, () => [
    [/prompt (?:length|token count|tokens?).{0,60}exceed/, 'Prompt length 9001 exceeds the limit of 8192'],
    [/(?:maximum|max) (?:prompt|input) (?:length|tokens?|token count)/, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."],
    [/(?:prompt|input|context|conversation|messages?|text|tokens?)(?: \w+){0,3} too long/, 'The conversation is too long, please start a new one.'],
    [/request is too long/, 'Request is too long.'],
    [/too long for (?:requested|this|the) model/, 'Input is too long for requested model.'],
    [/超长/, 'Prompt 超长'],
    [/maximum context length/, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."],
    [/less than the context length/, 'The prompt has to be less than the context length of 4096.'],
    [/(?:exceed|(?:less|longer|greater|larger) than).{0,30}max_(?:seq|model)_len/, 'A prompt of 5000 tokens exceeds max_seq_len 4096'],
    [/context the overflows/, 'Trying to keep the first 5000 tokens when context the overflows.'],
    [/context length of only/, 'The model is loaded with context length of only 4096 tokens.'],
    [/context (?:length|window|size|limit)s? (?:of \S+ )?(?:has been |is |was |are )?(?:exceed|reach|overflow|full|too)/, 'Context size has been exceeded.'],
    [/exceed\w{0,3} (?:\w+ ){0,5}context(?: |_)?(?:length|window|size|limit)/, 'the request exceeds the available context size, try increasing it'],
    [/greater than the context length/, 'The number of tokens to keep from the initial prompt is greater than the context length.'],
    [/(?:larger|longer|more) than (?:\w+ ){0,4}context/, "The prompt is longer than the model's context."],
    [/context(?:_| )length_exceeded/, 'Error code: context_length_exceeded'],
    [/exceeds? (?:\w+ ){0,3}n_ctx/, 'Prompt of 2100 tokens exceeds n_ctx (2048)'],
    [/context overflow/, 'Context overflow: start a new session.'],
    [/does not fit (?:in|into) (?:\w+ )?context/, 'The prompt does not fit into context.'],
    [/ran out of room in the models? context/, "Codex ran out of room in the model's context window."],
    [/exceeded (?:model|the model).{0,12}token limit/, 'Invalid request: Your request exceeded model token limit: 131072'],
    [/(?:input|prompt|total)? ?tokens? (?:count |length |in )?(?:\(?\d+\)? )?(?:exceeds?|exceeded) (?:the )?(?:maximum|configured|context|limit|model)/, 'The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).'],
    [/input tokens exceed/, 'Input tokens exceed the configured limit of 272000 tokens.'],
    [/token count.{0,20}exceeds/, 'The token count of 9001 exceeds 8192.'],
    [/tokens? in the prompt cannot exceed/, 'Number of tokens in the prompt cannot exceed 8192.'],
    [/inputs? (?:tokens )?\+ max_(?:new_)?tokens/, '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 200'],
    [/input length (?:and max_tokens|should be)/, 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
    [/range of input length/, 'Range of input length should be [1, 30720]'],
    [/must have less than \d+ tokens/, '`inputs` must have less than 1024 tokens. Given: 1500'],
    [/reduce the length of the (?:messages|prompt|input)/, 'Please reduce the length of the messages or completion.'],
    [/size limit exceeded by \d+ tokens/, 'too many tokens: size limit exceeded by 11 tokens.'],
    [/requested tokens \(\d+\) exceed/, 'Requested tokens (5000) exceed context window of 4096'],
    [/input tokens plus \d+/, 'Your 4000 input tokens plus 500 for the answer go past the window.'],
    [/(?:larger|longer) than the (?:max|maximum) (?:\w+ )?(?:tokens|model length)/, 'The decoder prompt (length 9000) is longer than the maximum model length of 8192.'],
    [/models? (?:maximum |\d+ )?token limit(?! (?:per|for))/, "Your text goes past this model's 8192 token limit."],
    [/answering your request will take/, 'Answering your request will take 9000 tokens, 8192 are allowed.'],
  ]),
];

/** Bytes, pictures and files, and one request that no rate window can ever hold. */
// prettier-ignore
export const sizeWording: readonly Phrases[] = [
  phrases({ code: 'REQUEST_TOO_LARGE', overrides: true }, () => [
    [/request too large for model/, 'Request too large for model `llama-3.1-8b` on tokens per minute (TPM): Limit 6000, Requested 9855'],
    [/request (?:\w+ ){0,3}(?:exceeds|larger than) the maximum (?:usage )?size(?! allowed during)/, 'Your request is larger than the maximum usage size.'],
    [/(?:request|payload|body|entity|file|image|document|attachment|audio|video|content)(?: \w+){0,3} (?:is )?too (?:large|big)/, '413 Request Entity Too Large'],
    [/request exceeds the maximum (?:size|allowed)/, 'Request exceeds the maximum allowed number of bytes.'],
    [/too large to be read/, 'The document is too large to be read.'],
    [/maximum (?:request )?(?:body|payload|file|image|upload) size/, 'The server allows a maximum request body size of 4 MB.'],
    [/(?:body|payload|content).?(?:size|length) (?:limit|exceed)/, 'Request body size exceeded'],
    [/exceeded limit on max bytes/, 'Exceeded limit on max bytes to buffer : 262144'],
    [/body exceeded/, 'Body exceeded 1 MB limit'],
    [/max body size/, "The proxy's max body size is 30000000 bytes."],
    [/image(?: dimensions)? exceeds? (?:\w+ )?\d/, 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes'],
    [/image (?:dimensions?|size) (?:exceed|is too|limit)/, 'The image size is too large: 9000 x 9000 pixels'],
    [/dimensions exceed/, 'One of the dimensions exceed max allowed size for many-image requests: 2000 pixels'],
    [/exceeds? (?:the )?(?:\d+ ?mb|file size|size limit|maximum (?:file|image))/, 'The attachment exceeds the size limit.'],
    [/\d+ bytes ?> ?\d+ bytes/, 'source.base64: 6291456 bytes > 5242880 bytes'],
    [/maximum of \d+ (?:pdf )?pages/, 'A maximum of 100 PDF pages may be provided.'],
    [/too many (?:images|pdf pages|pages)/, 'Too many images in request: 120'],
    [/(?:max(?:imum)?|allowed) file size|file size (?:is too|exceed|limit)/, 'The file size exceeds the limit of 50 MB.'],
    [/length less than or equal to \d{7,}/, "Value at 'body' failed: Member must have length less than or equal to 25000000"],
    [/string too long.{0,80}maximum length \d{6,}/, "Invalid 'input[0].content': string too long. Expected a string with maximum length 1048576"],
    [/string_above_max_length.{0,20}\d{6,}/, 'string_above_max_length: 10485760'],
  ]),
];

/** Unknown or retired models. */
// prettier-ignore
export const modelWording: readonly Phrases[] = [
  phrases({ code: 'MODEL_NOT_FOUND' }, () => [
    [/\b(?:model|deployment|endpoint)s?\b[:/]? ?(?:[^{.]|\.(?! )){0,80}?(?:does not exist|doesnt exist|do(?:es)? not exist|not exist\b|(?:was |is |were |could )?not (?:be )?found|no longer (?:available|supported|exists)|(?:has been|is|was) (?:decommissioned|deprecated|retired|removed|shut down|sunset|discontinued)|is not (?:a valid model|available|supported(?! (?:for|with|when|in combination))|served|registered|deployed|enabled)|isnt available|unavailable for|not a supported model)/, 'The model `gpt-5.2-proo` does not exist or you do not have access to it.'],
    [/(?:unknown|invalid|unsupported|no such|non-serverless|unrecognized|not found the|unrecognised) model/, 'Unknown Model, please check the model code.'],
    [/model.{0,60}end of (?:its )?life/, 'This model version has reached the end of its life.'],
    [/could not resolve the foundation model/, 'Could not resolve the foundation model from the given identifier.'],
    [/version \S{1,80} does not exist/, 'Version v9 does not exist'],
    [/specified version does not exist/, "The specified version does not exist (or perhaps you don't have permission to use it?)"],
    [/too large to be loaded automatically/, 'The model demo/large is too large to be loaded automatically (137GB > 10GB).'],
    [/may not exist or you may not have access|model is not supported when using/, "There's an issue with the selected model. It may not exist or you may not have access to it."],
    [/model (?:was )?unloaded/, 'Model unloaded by user.'],
    [/no endpoints found/, 'No endpoints found for acme/demo-9.'],
    [/no models? (?:loaded|available|found)/, 'No models loaded. Please load a model in the developer page.'],
    [/(?<!by the )(?:model|model identifier|model name|model id)(?: \S+)? is (?:invalid|incorrect|unknown|unsupported)/, 'The provided model identifier is invalid.'],
    [/model not (?:exist|supported|available)/, 'Model Not Exist'],
    [/no available channel/, 'No available channel for demo-9 under group default'],
    [/try pulling it first/, 'model "llama9" not found, try pulling it first'],
    [/(?:找不到|不存在).{0,10}模型/, '找不到名为 glm-9 的模型'],
    [/模型.{0,12}(?:不存在|未找到|下线)/, '该模型已下线，请更换其他模型'],
    [/not found for account/, "Function 'demo-function': Not found for account 'demo-account'"],
    [/model.{0,40}not supported for generatecontent/, 'models/gemini-9 is not supported for generateContent.'],
  ]),
];

/** What must change in the request, or what failed at the other side, said so clearly that a wrapper's words do not matter. */
// prettier-ignore
export const clearParameterWording: readonly Phrases[] = [
  phrases({ code: 'INVALID_REQUEST', overrides: true }, () => [
    [/parse the json body of your request/, 'We could not parse the JSON body of your request.'],
    [/array too long/, "Invalid 'tools': array too long. Expected an array with maximum length 128"],
    [/should be with role/, "First content should be with role 'user', got model"],
    [/is password protected|response exceeded the \d+ output token/, 'PDF is password protected.'],
    [/\bno (?:assistant|thread|file|response|batch|run|vector store)s? found/, 'No assistant found with id asst_demo.'],
    [/no such (?:file|assistant|thread|batch|response) /, 'No such File object: file-demo'],
    [/only supported in v1/, 'This model is only supported in v1/responses and not in v1/chat/completions.'],
    [/unknown request url|invalid url \(/, 'Unknown request URL: POST /openai/v1/chat. Please check the URL for typos.'],
    [/page not found|no route matched|requested url.{0,120}not found|cannot (?:get|post) \//, '404 page not found'],
    [/^(?:file )?not found$/, 'File Not Found'],
    [/at row \d+, column \d+/, 'Value is not callable: null at row 60, column 30'],
    [/bad input:/, 'AiError: Bad input: required properties are missing'],
    [/field must be defined/, 'The toolConfig field must be defined when using tool blocks.'],
    [/missing conversation_config/, 'Missing conversation_config'],
    [/failed to deserialize the json body/, 'Failed to deserialize the JSON body into the target type: messages[0]'],
    [/input is not supported/, 'image input is not supported - hint: you may need to provide the mmproj'],
    [/unsupported content/, 'Unsupported content part: audio'],
    [/must be passed back/, 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
    [/not a valid \S+ flavored json schema/, 'tools.function.parameters is not a valid moonshot flavored json schema'],
    [/should alternate/, 'After the system message, user and assistant messages should alternate.'],
    [/must alternate/, 'Conversation must alternate user/assistant/user/assistant/...'],
    [/parameter is illegal/, 'tools parameter is illegal. Please check the documentation.'],
    [/api version is no longer/, 'This API version is no longer accepted, please use a newer one.'],
    [/requires --\w/, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [/use \S{1,40} (?:api|endpoint) instead/, 'This model cannot chat, use v1/responses endpoint instead.'],
    [/is not supported for format/, 'enum is not supported for format date-time'],
    [/invalid beta flag/, 'invalid beta flag'],
    [/streaming is (?:strongly recommended|required)/, 'Streaming is strongly recommended for operations that may take longer than 10 minutes.'],
    [/(?:unsupported|unknown|missing required) param(?:eter)?\b/, "Unknown parameter: 'reasoning'."],
    [/invalid schema for/, "Invalid schema for function 'lookup': array schema missing items."],
    [/expected thinking or redacted_thinking/, 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.'],
    [/invalid signature in thinking/, 'messages.1.content.0: Invalid `signature` in `thinking` block'],
    [/no endpoints found that support/, 'No endpoints found that support tool use.'],
    [/input_schema does not support/, 'tools.0.custom: input_schema does not support oneOf, allOf, or anyOf at the top level'],
  ]),
  phrases({ code: 'SERVER_ERROR', overrides: true }, () => [
    [/failed to get response from provider/, 'Failed to get response from provider'],
    [/error was encountered while running the model|post predict:/, 'an error was encountered while running the model: unexpected EOF'],
    [/model has (?:unloaded or )?crashed/, 'The model has crashed without additional information. (Exit code: 6)'],
    [/an error occurred while processing your request/, 'An error occurred while processing your request. You can retry your request.'],
    [/the server had an error (?:while )?processing/, 'The server had an error while processing your request. Sorry about that!'],
  ]),
];

/** What must change in the request, where nothing more telling is said. */
// prettier-ignore
export const parameterWording: readonly Phrases[] = [
  phrases({ code: 'INVALID_REQUEST' }, () => [
    [/(?:unsupported|unknown|invalid|unrecognized|unexpected|missing|required|extra|additional)(?: \w+)? (?:parameter|argument|field|property|value|key|keyword|name|input|param|schema|json payload|request argument|type)s?\b/, 'Unsupported parameter: temperature is not supported with this model.'],
    [/is not permitted/, "Property 'cache_salt' is not permitted."],
    [/must be (?:set|one of|a|an|less|greater|at least|at most|provided|followed|passed|between|non-?empty|unique|in|of)\b/, "'temperature' must be between 0 and 2."],
    [/(?:does|do|is|are|did) not support(?:ed)?\b/, 'This model does not support assistant message prefill.'],
    [/isnt supported/, "Function calling isn't supported here."],
    [/not supported/, 'Audio output not supported.'],
    [/unsupported/, 'Unsupported audio encoding: amr'],
    [/malformed/, 'Malformed input request, please reformat your input and try again.'],
    [/invalid json/, 'Invalid JSON: trailing comma at line 3.'],
    [/invalid (?:message|request|image|url|content|base64|tool|function|type|body|format|role|sequence|media)/, 'Invalid base64 data in source.'],
    [/cannot (?:both|be used|be specified|specify|contain)/, '`temperature` and `top_p` cannot both be specified for this model.'],
    [/field required/, 'body -> messages: field required'],
    [/validation error/, '1 validation error for ChatCompletionRequest'],
    [/unprocessable/, '422 Unprocessable Entity'],
    [/bad request/, '400 Bad Request'],
    [/expected .{0,60}(?:but )?(?:got|found|received)/, 'Expected an object, but got a string instead.'],
    [/not allowed (?:for|with|when|in)/, "'logprobs' is not allowed with reasoning models."],
  ]),
];
