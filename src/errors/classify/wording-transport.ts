// Table: sentences about connections, timers and answers that cannot be read. The first match wins.

import type { WordingRule } from './verdict.ts';

/** Sentences that say where in the connection it broke, so clearly that no code around them counts. */
export const brokenWording: readonly WordingRule[] = [
  {
    code: 'INVALID_RESPONSE',
    overrides: true,
    pattern:
      /unexpected (?:token|string in json|number in json|end of json|non-whitespace|identifier)\b|is not valid json(?:$| \|)|json parse error|missing field .{0,60} at line \d|json error:/,
    seen: 'Unexpected token < in JSON at position 0',
  },
  {
    code: 'TIMEOUT',
    overrides: true,
    pattern:
      /(?:body|headers|connect) timeout error|aborted due to timeout|(?:^|\| )(?:\w{0,40}error: )?request timed out\b|timeout of \d+ ?ms exceeded/,
    seen: 'terminated: Body Timeout Error',
  },
  {
    code: 'STREAM_INTERRUPTED',
    overrides: true,
    pattern:
      /(?:^|[:|] )terminated(?:$| (?!by|due|:))|premature close|incomplete (?:chunked )?read|without sending complete message body|mid-(?:response|stream)|payload is not completed/,
    seen: 'TypeError: terminated',
  },
];

/** Timers. They stand before cancellation, for a timer aborts too. */
export const timeoutWording: readonly WordingRule[] = [
  {
    code: 'TIMEOUT',
    pattern:
      /aborted due to timeout|context deadline exceeded|deadline (?:of \S+ )?exceeded|deadline_exceeded|deadline expired|timeout of \d+ ?ms exceeded|(?:request|connection|connect|read|headers?|body|gateway|operation|upstream|response|socket|idle|server|client|pool|function|stream|model)(?: \w+)? (?:timed.?out|time.?out)|timed out|time.?out (?:error|exceeded|expired|occurred|while|after|was|of)|timeout ?error|\btimeout\b|took too long|exceeded the (?:model )?time(?:out| limit)|超时|error code:? 524|a timeout occurred|no response (?:received )?(?:for|within|after) \d/,
    seen: 'The operation was aborted due to timeout',
  },
];

export const cancelWording: readonly WordingRule[] = [
  {
    code: 'CANCELLED',
    pattern:
      /(?:request|operation|call|query|stream|generation|fetch|it|user)(?: \w+)? (?:was |has been |is )?(?:aborted|cancell?ed)|\baborterror|context cancell?ed|cancell?ed by (?:the )?(?:user|client|caller)|(?:user|client) (?:aborted|cancell?ed|closed request|disconnected)|(?:^|\| )(?:cancell?ed|aborted)(?:$| \|)|signal is aborted|interrupted by user|request cancell?ed/,
    seen: 'Error: Request was aborted.',
  },
];

/** Cut after it began. */
export const streamWording: readonly WordingRule[] = [
  {
    code: 'STREAM_INTERRUPTED',
    pattern:
      /\bterminated\b|premature (?:close|end)|incomplete (?:chunked read|read|stream|message)|(?:response )?payload is not completed|peer closed connection without sending complete|closed mid|mid-(?:response|stream)|stream (?:\w+ ){0,3}(?:ended|finished|closed|disconnected|interrupted|terminated|stopped|aborted|cut|broke)(?! by user)|without (?:a |an |the )?(?:finish_?reason|response\.completed|\[done\]|message_stop|terminal|final)|transfer closed with|connection (?:was )?(?:lost|closed|dropped|broken|interrupted) (?:while|during|before|mid) (?:\w+ )?(?:stream|response completed|body|reading)|unexpected(?:ly)? end of (?:stream|response|file|data|body)|unexpected eof|eof while reading|missing finish_reason|invalidchunklength|error (?:while )?(?:reading|decoding) (?:the )?(?:response|stream|body)|before (?:message_stop|completion)/,
    seen: 'stream finished without response.completed event',
  },
];

/** Trust failures never heal by waiting. */
export const networkWording: readonly WordingRule[] = [
  {
    code: 'NETWORK_ERROR',
    retryable: false,
    pattern:
      /self.signed certificate|certificate.{0,30}(?:verify failed|verification|has expired|not trusted|unknown authority|chain|issuer|altnames)|certificate_verify_failed|unable to (?:verify|get) (?:the )?(?:first|local issuer|issuer) ?\w{0,12} ?certificate|hostname\/ip does not match|wrong version number|does not match certificate|x509|pkix|certification path|unknown ca\b|proxy authentication required|sslcertverificationerror/,
    seen: 'certificate verify failed: self-signed certificate in certificate chain',
  },
  {
    code: 'NETWORK_ERROR',
    pattern:
      /fetch failed|failed to fetch|load failed|error sending request|could not resolve host|empty reply from server|recv failure|actively refused|no such host is known|tcp connect error|: eof(?:$| \|)|failed to (?:connect|establish)|cannot connect|could not connect|unable to connect|connection (?:error|refused|reset|aborted|failed|closed|broken|was closed|was reset|attempts? failed|timed)|connect(?:ion)?error|network (?:error|is unreachable|request failed|connection|socket disconnected|failure|issue|problem)|socket hang up|socket (?:connection )?(?:was )?(?:closed|disconnected|error)|other side closed|getaddrinfo|sent goaway|net::err_|did not get a response|check your (?:internet|network) connection|request to failed, reason|name resolution|name or service not known|nodename nor servname|dns|no route to host|host is unreachable|broken pipe|unreachable|cannot assign requested address|remote end closed connection|server disconnected|remoteprotocolerror|unable to reach|no such host|dial tcp|econn|enotfound|failedtoopensocket|connectionrefused|before secure tls|tunnel|proxy (?:connection|error)|tls handshake|ssl(?:eof|error|zeroreturn)|connection lost|client network socket/,
    seen: 'Cannot connect to API: connect ECONNREFUSED 127.0.0.1:1234',
  },
];

/** Answers that cannot be read. */
export const responseWording: readonly WordingRule[] = [
  {
    code: 'INVALID_RESPONSE',
    pattern:
      /unexpected (?:token|end of json|non-whitespace|character|identifier|eof)|is not valid json|json parse error|json(?:decode)?error|invalid json (?:response|in)|expecting value|no (?:candidates|choices|content|output|response|message|text|completion)s? (?:were |was )?(?:generated|returned|received|found|in)|(?:empty|null|blank|no) (?:response|reply|answer|completion|body|content|choices|candidates|output)|(?:response|answer|output|content|body)(?: \w+){0,3} (?:is |was )?(?:empty|null|undefined)|could not (?:parse|decode|read) (?:the )?(?:response|json|answer)|(?:failed|unable|error) (?:to )?(?:pars(?:e|ing)|decod(?:e|ing)|deseriali[sz]e)(?: \w+){0,3} (?:response|json|chunk|stream|answer|output)|invalid (?:response|http response|chunk)|malformed (?:response|http)|unparse?able|parse error|text\/html|invalidhttpresponse|returned html|response\.text quick accessor|contain valid part|did not return (?:any|valid)|typevalidationerror|bad response/,
    seen: 'Unexpected token < in JSON at position 0',
  },
];

/** A gateway's client that never reached the provider, reported as a 5xx of its own. */
export const unreachedWording: readonly WordingRule[] = [
  {
    code: 'NETWORK_ERROR',
    pattern: /failed to connect to all addresses|no route to host/,
    seen: '503 failed to connect to all addresses; last error: No route to host',
  },
];

/** What a failing server says of itself. */
export const serverWording: readonly WordingRule[] = [
  {
    code: 'SERVER_ERROR',
    retryable: false,
    overrides: true,
    pattern:
      /requires more system memory|out of memory|insufficient memory|cuda error|not enough (?:gpu |system )?memory|unable to allocate|failed to allocate|unable to load model|insufficient system resources|error loading model|failed to load model|model failed to load/,
    seen: 'model requires more system memory (5.0 GiB) than is available (3.9 GiB)',
  },
  {
    code: 'SERVER_ERROR',
    overrides: true,
    pattern:
      /runner process (?:has terminated|no longer running)|engine (?:loop is not running|is dead|process failed)|enginedeaderror|model has crashed/,
    seen: 'llama runner process has terminated: exit status 2',
  },
  {
    code: 'SERVER_ERROR',
    pattern:
      /internal (?:server )?error|server (?:had an |side )?error|bad gateway|web server is (?:down|returning)|threw exception|origin (?:is )?(?:unreachable|dns error)|something went wrong|unexpected error|an error occurred (?:while|during) (?:processing|streaming)|internal failure|upstream (?:error|connect|request failed)|error code:? 52\d|retry your request|an internal|encountered an (?:internal|unexpected)|degraded|系统(?:错误|异常)|服务.{0,6}(?:错误|异常)|内部错误|网络错误/,
    seen: 'The server had an error while processing your request. Sorry about that!',
  },
];
