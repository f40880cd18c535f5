// Table: single words that decide only where nothing else does. The first match wins.

import type { WordingRule } from './verdict.ts';

export const faintWording: readonly WordingRule[] = [
  {
    code: 'CONTENT_FILTERED',
    pattern: /\bfiltered\b|\bcensor|\bharmful\b|\bexplicit content|\bguardrail|\bnsfw\b/,
    seen: 'Oops, your response got filtered.',
  },
  {
    code: 'TIMEOUT',
    pattern: /\bstalled\b|\bno progress\b|\bdeadline\b|\btoo slow\b|\btimer\b/,
    seen: 'The upstream stalled.',
  },
  {
    code: 'INVALID_RESPONSE',
    pattern:
      /without sending any|returned nothing|no (?:chunks|data|tokens|events)\b|\bempty\b|unable to parse|cannot parse|\bunreadable\b|not (?:a )?valid (?:response|answer|output)|\bgarbled\b/,
    seen: 'request ended without sending any chunks',
  },
  {
    code: 'NETWORK_ERROR',
    pattern:
      /\bsocket\b|\bconnection\b|\bnetwork\b|\boffline\b|\bhttp2\b|\btls\b|\bssl\b|\bproxy\b|could not be reached|not reachable|\bhostname\b/,
    seen: 'The socket went away.',
  },
  {
    code: 'QUOTA_EXCEEDED',
    pattern:
      /(?:\blimit|\bquota|\busage).{0,80}(?:upgrade|\bplan\b|month|subscri|billing|credit|wait until|resets? (?:at|on))|\bbilling\b|\bcredits?\b|\bpaid\b|\bsubscription\b|\bbalance\b/,
    seen: 'You have reached your chat messages limit. Upgrade, or wait until 21 April.',
  },
  {
    code: 'RATE_LIMITED',
    pattern: /\blimit (?:has been |was |is )?(?:reached|exceeded|hit)\b|too (?:frequent|fast)/,
    seen: 'Message limit reached.',
  },
  {
    code: 'CONTEXT_LENGTH_EXCEEDED',
    pattern: /\btoo long\b|too many tokens|context (?:window|length)|exceeds.{0,40}tokens/,
    seen: 'The history is too long.',
  },
  {
    code: 'MODEL_NOT_FOUND',
    pattern: /\bmodel (?:\S+ ){0,2}(?:is )?(?:unavailable|missing|invalid)\b/,
    seen: 'The model x-1 is missing.',
  },
  {
    code: 'PERMISSION_DENIED',
    pattern:
      /\bdenied\b|\bnot allowed\b|\bnot permitted\b|\brestricted\b|\bpermissions?\b|\bbanned\b|\bsuspended\b|\bblocked\b/,
    seen: 'It was denied.',
  },
  {
    code: 'AUTHENTICATION_ERROR',
    pattern: /\bapi.?key\b|\bcredentials?\b|\blog ?in\b|\bsign in\b|\bauth(?:entication|orization)?\b/,
    seen: 'Something about the credentials.',
  },
  {
    code: 'OVERLOADED',
    pattern: /\bunavailable\b|\bcapacity\b|\bbusy\b|try again later|\bdegraded\b|\bmaintenance\b/,
    seen: 'It is unavailable, try again later.',
  },
  {
    code: 'SERVER_ERROR',
    pattern:
      /(?:error|status|code)\W{1,3}5\d\d\b|\bcrash|\bpanic\b|\binternal\b|experiencing issues|\boutage\b/,
    seen: 'unknown error, 520',
  },
  {
    code: 'INVALID_REQUEST',
    pattern:
      /\binvalid\b|\bmust\b|\brequired\b|\bmissing\b|\bunsupported\b|\bcannot\b|\bmaximum of\b|\bmay be provided\b|\bexpected\b|\bmalformed\b|\bparameter\b/,
    seen: 'A maximum of 4 blocks may be provided.',
  },
];
