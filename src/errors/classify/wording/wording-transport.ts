// Table: sentences about connections, timers and answers that cannot be read. The first match wins.

import { phrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';

/** Sentences that say where in the connection it broke, so clearly that no code around them counts. */
// prettier-ignore
export const brokenWording: readonly Phrases[] = [
  phrases({ code: 'INVALID_RESPONSE', overrides: true }, () => [
    [/unexpected (?:token|string in json|number in json|end of json|non-whitespace|identifier)\b/, 'Unexpected token < in JSON at position 0'],
    [/is not valid json(?:$| \|)/, '"[object Object]" is not valid JSON'],
    [/json parse error/, 'SyntaxError: JSON Parse error: Unterminated string'],
    [/missing field .{0,60} at line \d/, 'missing field `choices` at line 1 column 42'],
    [/json error:/, 'json error: trailing characters after column 8'],
    [/looking for beginning of (?:value|object)|cannot unmarshal \w+ into|invalid http version|bufio\.scanner/, "invalid character '<' looking for beginning of value"],
    [/(?:invalid|unexpected|wrong) content.?type:? (?:application|text)\//, 'IllegalStateException: Invalid content-type: application/json; charset=utf-8'],
    [/model output (?:error|must contain)|must contain either output text or tool calls/, 'model output error: model output must contain either output text or tool calls'],
    [/did not match any variant|invalid stream payload/, 'data did not match any variant of untagged enum StreamingCompletionChunk'],
    [/content-encodings in response|incorrect header check|invalid (?:distance|stored block|block type|gzip)/, 'incorrect header check'],
    [/does not match the http\/|parse error: (?:expected|invalid|header|missing)|invalid header value char/, 'Parse Error: Expected HTTP/, RTSP/ or ICE/'],
    [/no object generated/, 'AI_NoObjectGeneratedError: No object generated: response did not match schema.'],
    [/response (?:was |is )?missing/, "Response was missing 'choices' key"],
    [/response validation failed/, 'SDKValidationError: Response validation failed'],
    [/(?:reading|parsing|invalid|malformed|bad) (?:http )?response headers|first line of (?:the )?response|(?:malformed|invalid) status line/, 'error when reading response headers: cannot find whitespace in the first line of response'],
    [/could not parse llm output/, 'OutputParserException: Could not parse LLM output'],
    [/kind: decode|expected value.{0,20}line:? \d/, 'reqwest::Error { kind: Decode, source: Error("expected value", line: 1, column: 1) }'],
  ]),
  phrases({ code: 'NETWORK_ERROR', retryable: false, overrides: true }, () => [
    [/failed to verify certificate/, 'Post "https://api.example.com/chat": tls: failed to verify certificate'],
    [/wrong.version.number/, 'write EPROTO error:0A00010B:SSL routines:ssl3_get_record:wrong version number'],
    [/establish trust relationship|(?:remote|server|peer) certificate (?:is|was) (?:\w+ )?(?:invalid|expired|rejected)|certificate for this server is invalid|app transport security|sec_error_\w{0,20}(?:issuer|certificate)|bad_cert|gave http response to https/, 'The SSL connection could not establish trust relationship with the server.'],
    [/invalid peer certificate|unknownissuer|err_cert_/, 'client error (Connect): invalid peer certificate: UnknownIssuer'],
    [/connect tunnel failed|tunnel connection failed/, 'curl: (56) CONNECT tunnel failed, response 403'],
    [/proxy response \(407\)/, 'Proxy response (407) !== 200 when HTTP Tunneling'],
    [/proxy authentication required/, 'Tunnel connection failed: 407 Proxy Authentication Required'],
  ]),
  phrases({ code: 'TIMEOUT', overrides: true }, () => [
    [/(?:body|headers|connect) timeout error/, 'terminated: Body Timeout Error'],
    [/aborted due to timeout/, 'The operation was aborted due to timeout'],
    [/(?:^|\| )(?:\w{0,40}error: )?request timed out\b/, 'Request timed out.'],
    [/timeout of \d+ ?ms exceeded/, 'AxiosError: timeout of 5000ms exceeded'],
    [/timeout on (?:blocking )?(?:read|write|connect|request)|(?:read|connect|write|socket|connection|response) ?time(?:d )?-?out\b/, 'I/O error on POST request: Timeout on blocking read for 5000000000 NANOSECONDS'],
  ]),
  phrases({ code: 'NETWORK_ERROR', overrides: true }, () => [
    [/failed to connect to all addresses/, 'Timeout of 600.0s exceeded, last exception: 503 failed to connect to all addresses'],
    [/i\/o error on (?:get|post)/, 'I/O error on POST request for "http://localhost:11434/v1/chat/completions": null'],
    [/(?:host|remote) ?name could not be resolved|unknown_host|net_reset|connect_reset|net_interrupt|server misbehaving|received fatal alert/, "The remote name could not be resolved: 'api.example.com'"],
    [/error sending request/, 'stream disconnected before completion: error sending request for url'],
    [/header parser received no bytes|prematurely closed before response/, 'java.io.IOException: HTTP/1.1 header parser received no bytes'],
    [/proxy response \((?!407)/, 'Proxy response (502) !== 200 when HTTP Tunneling'],
  ]),
  phrases({ code: 'CANCELLED', overrides: true }, () => [
    [/nsurlerrordomain code=-999/, 'Error Domain=NSURLErrorDomain Code=-999 "cancelled"'],
  ]),
  phrases({ code: 'STREAM_INTERRUPTED', overrides: true }, () => [
    [/(?:^|[:|] )terminated(?:$| (?!by|due|:))/, 'TypeError: terminated'],
    [/premature close/, 'Invalid response body while trying to fetch https://api.example.com/v1/chat: Premature close'],
    [/net_partial_transfer/, 'NS_ERROR_NET_PARTIAL_TRANSFER'],
    [/incomplete (?:chunked )?read/, 'httpcore: incomplete chunked read'],
    [/without sending complete message body/, 'peer closed connection without sending complete message body (received 10 bytes, expected 20)'],
    [/mid-(?:response|stream)/, 'The provider hung up mid-stream.'],
    [/payload is not completed/, 'Response payload is not completed: TransferEncodingError'],
    [/stream error: stream id/, 'stream error: stream ID 3; INTERNAL_ERROR; received from peer'],
    [/response ended prematurely/, 'HttpIOException: The response ended prematurely. (ResponseEnded)'],
    [/prematurely closed during response/, 'PrematureCloseException: Connection prematurely closed DURING response'],
    [/incompleteread\((?!0 )|connection broken: /, "ProtocolError: ('Connection broken: IncompleteRead(512 bytes read)')"],
    [/stream has been aborted/, 'stream has been aborted'],
    [/stream was reset|streamresetexception/, 'StreamResetException: stream was reset: INTERNAL_ERROR'],
    [/error in input stream/, 'TypeError: Error in input stream'],
  ]),
];

/** Timers. They stand before cancellation, for a timer aborts too. */
// prettier-ignore
export const timeoutWording: readonly Phrases[] = [
  phrases({ code: 'TIMEOUT' }, () => [
    [/context deadline exceeded/, 'Post "https://api.example.com/v1/chat": context deadline exceeded'],
    [/deadline (?:of \S+ )?exceeded/, 'Deadline of 600.0s exceeded while calling target function'],
    [/deadline expired/, 'Deadline expired before operation could complete.'],
    [/(?:request|connection|connect|read|headers?|body|gateway|operation|upstream|response|socket|idle|server|client|pool|function|stream|model)(?: \w+)? (?:timed.?out|time.?out)/, 'Gateway Time-out'],
    [/timed out/, 'urlopen error timed out'],
    [/time.?out (?:error|exceeded|expired|occurred|while|after|was|of)/, 'Time-out while waiting for the first byte.'],
    [/timeout ?error/, 'asyncio.exceptions.TimeoutError'],
    [/\btimeout\b/, 'net/http: TLS handshake timeout'],
    [/took too long/, 'Upstream took too long to respond.'],
    [/before the (?:given )?deadline/, "Request didn't generate first token before the given deadline"],
    [/exceeded the (?:model )?time(?:out| limit)/, 'Processing exceeded the time limit.'],
    [/超时/, '请求超时，请重试。'],
    [/error code:? 524/, 'error code: 524'],
    [/a timeout occurred/, 'A timeout occurred'],
    [/no response (?:was |has been )?(?:generated |received |returned )?(?:for|within|after|in) \d/, 'No response received within 60 seconds.'],
  ]),
];

// prettier-ignore
export const cancelWording: readonly Phrases[] = [
  phrases({ code: 'CANCELLED' }, () => [
    [/\b(?:request|operation|call|query|stream|generation|fetch|user)(?: \w+)? (?:was |has been |is )?(?:aborted|cancell?ed)\b/, 'Error: Request was aborted.'],
    [/\baborterror/, 'AbortError: BodyStreamBuffer was aborted'],
    [/context cancell?ed/, 'Post "https://api.example.com/v1/messages": context canceled'],
    [/cancell?ed by (?:the )?(?:user|client|caller)/, 'Canceled by the user.'],
    [/(?:user|client) (?:aborted|cancell?ed|closed request|disconnected)/, 'Client Closed Request'],
    [/(?:^|\| )(?:cancell?ed|aborted)(?:$| \|)/, 'canceled'],
    [/signal is aborted/, 'signal is aborted without reason'],
    [/interrupted by user/, '[Request interrupted by user]'],
    [/request cancell?ed/, 'net/http: request canceled'],
    [/(?:error|exception): ?(?:cancell?ed|aborted)(?:$| \|)/, 'java.io.IOException: Canceled'],
  ]),
];

/** Cut after it began. */
// prettier-ignore
export const streamWording: readonly Phrases[] = [
  phrases({ code: 'STREAM_INTERRUPTED' }, () => [
    [/\b(?:connection|stream|request|response|session|socket|upstream)(?: \w+){0,3} terminated\b/, 'The upstream connection was terminated'],
    [/premature (?:close|end)/, 'Premature end of Content-Length delimited message body (expected: 812; received: 400)'],
    [/incomplete (?:chunked read|read|stream|message)/, 'hyper: incomplete message'],
    [/closed mid/, 'The gateway closed mid sentence.'],
    [/stream (?:\w+ ){0,3}(?:ended|finished|closed|disconnected|interrupted|terminated|stopped|aborted|cut|broke)(?! by user)/, 'stream ended without producing a Message'],
    [/without (?:a |an |the )?(?:finish_?reason|response\.completed|\[done\]|message_stop|terminal|final)/, 'stream finished without response.completed event'],
    [/transfer closed with/, 'curl: (18) transfer closed with outstanding read data remaining'],
    [/connection (?:was )?(?:lost|closed|dropped|broken|interrupted) (?:while|during|before|mid) (?:\w+ )?(?:stream|response completed|body|reading)/, 'Connection dropped while reading the answer.'],
    [/unexpected(?:ly)? end of (?:stream|response|file|data|body)/, 'unexpected end of stream on https://api.example.com/'],
    [/unexpected eof/, 'unexpected EOF'],
    [/eof while reading/, 'EOF while reading the chunk header'],
    [/missing finish_reason/, 'missing finish_reason for choice 0'],
    [/invalidchunklength/, "InvalidChunkLength(got length b'', 0 bytes read)"],
    [/error (?:while )?(?:reading|decoding) (?:the )?(?:response|stream|body)/, 'error decoding response body'],
    [/before (?:message_stop|completion)/, 'The reply ended before message_stop.'],
  ]),
];

/** Trust failures never heal by waiting. */
// prettier-ignore
export const networkWording: readonly Phrases[] = [
  phrases({ code: 'NETWORK_ERROR', retryable: false }, () => [
    [/self.signed certificate/, 'self-signed certificate'],
    [/certificate.{0,30}(?:verify failed|verification|has expired|not trusted|unknown authority|chain|issuer|altnames)/, 'certificate verify failed: self-signed certificate in certificate chain'],
    [/certificate_verify_failed/, '[SSL: CERTIFICATE_VERIFY_FAILED] (_ssl.c:1006)'],
    [/unable to (?:verify|get) (?:the )?(?:first|local issuer|issuer) ?\w{0,12} ?certificate/, 'unable to verify the first certificate'],
    [/hostname\/ip does not match/, "Hostname/IP does not match certificate's altnames: Host: api.example.com"],
    [/does not match certificate/, 'Host name api.example.com does not match certificate subject'],
    [/x509/, "x509: cannot validate certificate for 10.0.0.5 because it doesn't contain any IP SANs"],
    [/remote certificate is invalid/, 'The remote certificate is invalid according to the validation procedure'],
    [/pkix/, 'PKIX path building failed'],
    [/certification path/, 'unable to find valid certification path to requested target'],
    [/unknown ca\b/, 'ssl3_read_bytes: tlsv1 alert unknown ca'],
    [/sslcertverificationerror/, "SSLCertVerificationError(1, 'hostname mismatch')"],
  ]),
  phrases({ code: 'NETWORK_ERROR' }, () => [
    [/fetch failed/, 'TypeError: fetch failed'],
    [/failed to fetch/, 'TypeError: Failed to fetch'],
    [/networkerror when/, 'TypeError: NetworkError when attempting to fetch resource.'],
    [/\bload failed/, 'TypeError: Load failed'],
    [/could not (?:resolve:|contact dns)/, 'Could not resolve: api.example.com (Could not contact DNS servers)'],
    [/could not resolve host/, 'curl: (6) Could not resolve host: api.example.com'],
    [/empty reply from server/, 'curl: (52) Empty reply from server'],
    [/recv failure/, 'curl: (56) Recv failure'],
    [/actively refused/, 'No connection could be made because the target machine actively refused it.'],
    [/no such host is known/, 'No such host is known. (api.example.com:443)'],
    [/tcp connect error/, 'error trying to connect: tcp connect error'],
    [/: eof(?:$| \|)/, 'Post "https://api.example.com/v1/chat": EOF'],
    [/failed to (?:connect|establish)/, 'Failed to connect to api.example.com port 443 after 21 ms'],
    [/cannot connect/, 'Cannot connect to host api.example.com:443 ssl:default'],
    [/could not connect/, 'Could not connect to the server.'],
    [/unable to connect/, 'Unable to connect. Is the computer able to access the url?'],
    [/connection (?:error|refused|reset|aborted|failed|closed|broken|was closed|was reset|attempts? failed|timed)/, 'Connection error.'],
    [/connect(?:ion)?error/, "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443)"],
    [/network (?:error|is unreachable|request failed|connection|socket disconnected|failure|issue|problem)/, 'Network request failed'],
    [/socket hang up/, 'socket hang up'],
    [/socket (?:connection )?(?:was )?(?:closed|disconnected|error)/, 'java.net.SocketException: Socket closed'],
    [/other side closed/, 'SocketError: other side closed'],
    [/getaddrinfo/, '[Errno 11001] getaddrinfo failed'],
    [/sent goaway/, 'http2: server sent GOAWAY and closed the connection; LastStreamID=1999'],
    [/net::err_/, 'net::ERR_INTERNET_DISCONNECTED'],
    [/did not get a response/, 'The request was sent but did not get a response.'],
    [/check your (?:internet|network) connection/, 'Please check your internet connection.'],
    [/request to failed, reason/, 'request to https://api.example.com/v1/chat failed, reason:'],
  ]),
  phrases({ code: 'NETWORK_ERROR' }, () => [
    [/name resolution/, '[Errno -3] Temporary failure in name resolution'],
    [/name or service not known/, '[Errno -2] Name or service not known'],
    [/nodename nor servname/, '[Errno 8] nodename nor servname provided, or not known'],
    [/\bdns (?:error|lookup|resolution|failure|problem)|\bdns\b.{0,20}fail/, 'dns error: failed to lookup address information'],
    [/no route to host/, 'upstream dial failed: no route to host'],
    [/host is unreachable/, 'Host is unreachable (os error 113)'],
    [/broken pipe/, '[Errno 32] Broken pipe'],
    [/(?:host|network|destination|server|origin|api|is) (?:is )?unreachable/, 'The destination is unreachable'],
    [/cannot assign requested address/, '[Errno 99] Cannot assign requested address'],
    [/remote end closed connection/, 'Remote end closed connection without response'],
    [/server disconnected/, 'Server disconnected without sending a response.'],
    [/remoteprotocolerror/, 'httpx.RemoteProtocolError: illegal header line'],
    [/unable to reach/, 'Unable to reach api.example.com.'],
    [/no such host/, 'lookup api.example.com on 10.0.0.2:53: no such host'],
    [/dial tcp/, 'dial tcp: missing address'],
    [/failedtoopensocket/, 'FailedToOpenSocket: Was there a typo in the url or port?'],
    [/connectionrefused/, 'ConnectionRefused fetching "https://api.example.com/v1/chat"'],
    [/before secure tls/, 'The peer left before secure TLS connection was established'],
    [/proxy (?:connection|error)/, 'Proxy connection ended before receiving CONNECT response'],
    [/tls handshake/, 'http: TLS handshake error from 203.0.113.7:52144'],
    [/ssl(?:eof|error|zeroreturn)/, "SSLEOFError(8, 'EOF occurred in violation of protocol (_ssl.c:1007)')"],
    [/connection lost/, 'aiohttp: Connection lost'],
    [/client network socket/, 'Client network socket disconnected before secure TLS connection was established'],
  ]),
];

/** Answers that cannot be read. */
// prettier-ignore
export const responseWording: readonly Phrases[] = [
  phrases({ code: 'INVALID_RESPONSE' }, () => [
    [/unexpected (?:token|end of json|non-whitespace|character|identifier|eof)/, 'JSON.parse: unexpected character at line 1 column 1 of the JSON data'],
    [/is not valid json/, 'The reply is not valid JSON, it is a web page.'],
    [/json(?:decode)?error/, 'json.decoder.JSONDecodeError: Extra data: line 1 column 5 (char 4)'],
    [/invalid json (?:response|in)/, 'Invalid JSON response'],
    [/expecting value/, 'Expecting value: line 1 column 1 (char 0)'],
    [/no (?:candidates|choices|content|output|response|message|text|completion)s? (?:were |was )?(?:generated|returned|received|found|in)/, 'No text returned by the model.'],
    [/(?:empty|null|blank|no) (?:response|reply|answer|completion|body|content|choices|candidates|output)/, 'Empty response body'],
    [/(?:response|answer|output|content|body)(?: \w+){0,3} (?:is |was )?(?:empty|null|undefined)/, 'Response body is null'],
    [/could not (?:parse|decode|read) (?:the )?(?:response|json|answer)/, 'Could not parse the response as UTF-8.'],
    [/(?:failed|unable|error) (?:to )?(?:pars(?:e|ing)|decod(?:e|ing)|deseriali[sz]e)(?: \w+){0,3} (?:response|json|chunk|stream|answer|output)/, 'Failed to parse server response'],
    [/invalid (?:response|http response|chunk)/, 'Invalid response from the upstream provider.'],
    [/malformed (?:response|http)/, 'malformed HTTP response "<html>"'],
    [/unparse?able/, 'The provider sent an unparsable reply.'],
    [/parse error/, 'Parse Error: Expected HTTP/'],
    [/text\/html/, 'unexpected content-type "text/html; charset=utf-8"'],
    [/invalidhttpresponse/, 'InvalidHTTPResponse fetching "https://api.example.com/v1/chat"'],
    [/returned html/, 'The endpoint returned HTML instead of JSON.'],
    [/response\.text quick accessor/, 'The `response.text` quick accessor requires the response to contain a valid `Part`.'],
    [/contain valid part/, 'The candidate does not contain valid Part data.'],
    [/did not (?:return|provide|produce|generate|contain|include|send) (?:any|valid|an?)\b/, 'The model did not return any message.'],
    [/typevalidationerror/, 'AI_TypeValidationError: Type validation failed: Value: {}'],
    [/bad response/, 'Received a bad response from the provider.'],
  ]),
];

/** A host without the memory: waiting does not help, whatever the status. */
// prettier-ignore
export const memoryWording: readonly Phrases[] = [
  phrases({ code: 'SERVER_ERROR', retryable: false, overrides: true }, () => [
    [/requires more system memory/, 'model requires more system memory (5.0 GiB) than is available (3.9 GiB)'],
    [/out of memory/, 'CUDA out of memory. Tried to allocate 2.00 GiB.'],
    [/insufficient memory/, 'Insufficient memory for this model on the device.'],
    [/cuda error/, 'CUDA error: an illegal memory access was encountered'],
    [/not enough (?:gpu |system )?memory/, 'DefaultCPUAllocator: not enough memory: you tried to allocate 4294967296 bytes.'],
    [/unable to allocate/, 'unable to allocate CUDA0 buffer'],
    [/failed to allocate/, 'alloc_tensor_range: failed to allocate CUDA0 buffer of size 1073741824'],
    [/unable to load model/, 'unable to load model: /models/blobs/sha256-demo'],
    [/insufficient system resources/, 'Model loading was stopped due to insufficient system resources.'],
    [/error loading model/, 'llama_model_load: error loading model: tensor data is not within the file bounds'],
    [/(?:could not|cannot|can not|failed to|failed|unable to) load(?:ing)? (?:the |a |any )?model/, 'could not load model - all backends returned error'],
    [/(?:have|has|had) enough (?:\w+ )?memory|enough available memory/, 'llama runner exited, you may not have enough available memory to run this model?'],
    [/failed to load model/, 'Failed to load model "qwen2.5-7b-instruct".'],
    [/model failed to load/, 'model failed to load, this may be due to resource limitations'],
  ]),
];

/** A programming error of the client: nobody knows what it hides, and repeating it repeats it. */
// prettier-ignore
export const defectWording: readonly Phrases[] = [
  phrases({ code: 'UNKNOWN', overrides: true }, () => [
    [/cannot read propert(?:y|ies) of/, "TypeError: Cannot read properties of undefined (reading 'timeout')"],
    [/\w is not defined(?:$| \|)|\w is not a function\b/, 'ReferenceError: proxy is not defined'],
  ]),
];

/** A service that is down says so even where it is named after keys or content: 'The content filtering system is down'. */
// prettier-ignore
export const outageWording: readonly Phrases[] = [
  phrases({ code: 'SERVER_ERROR', overrides: true }, () => [
    [/due to an internal (?:server )?error/, 'Could not validate credentials due to an internal error.'],
    [/(?:system|service|backend) is (?:currently )?down\b/, 'The content filtering system is down.'],
    [/llama_decode returned/, 'RuntimeError: llama_decode returned -3'],
    [/no healthy upstream|no server is available to handle|failure to get a peer|unable to determine ip address/, 'no healthy upstream'],
  ]),
  phrases({ code: 'OVERLOADED', overrides: true }, () => [
    [/(?:system|service|backend) (?:is )?(?:temporarily|currently) unavailable/, 'The auth service is temporarily unavailable.'],
  ]),
];

/** A gateway's client that never reached the provider, reported as a 5xx of its own. */
// prettier-ignore
export const unreachedWording: readonly Phrases[] = [
  phrases({ code: 'NETWORK_ERROR' }, () => [
    [/no route to host|could not resolve host|no such host|connection refused|name resolution|getaddrinfo/, 'Upstream request failed: Could not resolve host: api.example.com'],
  ]),
];

/** What a failing server says of itself. */
// prettier-ignore
export const serverWording: readonly Phrases[] = [
  phrases({ code: 'SERVER_ERROR', overrides: true }, () => [
    [/runner (?:process )?(?:has )?(?:unexpectedly )?(?:exited|stopped|crashed|terminated|no longer running)/, 'llama runner process has terminated: exit status 2'],
    [/engine (?:loop is not running|is dead|process failed)/, 'vllm: Engine loop is not running. Inspect the stacktrace to find the original error.'],
    [/enginedeaderror/, 'vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.'],
    [/model has crashed/, 'The model has crashed without additional information. (Exit code: 6)'],
  ]),
  phrases({ code: 'SERVER_ERROR' }, () => [
    [/internal (?:server )?error/, 'Internal error encountered.'],
    [/(?:prediction|generation|job|model setup) (?:was |has )?(?:interrupted|failed)\b/, 'Prediction interrupted; please retry (code: XY)'],
    [/server (?:had an |side )?error/, 'Request failed during generation: Server error: transport'],
    [/bad gateway/, 'Bad Gateway'],
    [/web server is (?:down|returning)/, 'Web server is down'],
    [/threw exception/, 'Worker threw exception'],
    [/an error occurred (?:while|during) (?:processing|streaming)/, 'An error occurred during streaming'],
    [/internal failure/, 'Internal failure, reference 4711.'],
    [/upstream (?:error|connect|request failed)/, 'upstream connect error or disconnect/reset before headers. reset reason: protocol error'],
    [/error code:? 52\d/, 'error code: 520'],
    [/retry your request/, 'You can retry your request, or contact us.'],
    [/an internal/, 'We hit an internal problem.'],
    [/encountered an (?:internal|unexpected)/, 'The system encountered an unexpected condition.'],
    [/系统(?:错误|异常)/, '系统错误，请稍后再试。'],
    [/服务.{0,6}(?:错误|异常)/, '服务出现异常，请稍后重试。'],
    [/内部错误/, '内部错误，请联系客服。'],
    [/网络错误/, '网络错误，错误id：4711，请联系客服。'],
  ]),
];
