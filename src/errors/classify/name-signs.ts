// Table: names of error classes in SDKs, HTTP clients and runtimes, in lower case, without `Error` or `Exception` at the end.

import type { FailureCode } from '../codes.ts';
import { coarseSignOfId, signOfId } from './error-ids.ts';
import type { Sign } from './verdict.ts';

/** Wrappers choose class names carelessly, so they speak late. */
// prettier-ignore
const namesByCode: Partial<Record<FailureCode, readonly string[]>> = {
  RATE_LIMITED: ['ratelimit', 'gatewayratelimit', 'toomanyrequests', 'ratelimiterrejected', 'requestnotpermitted'],
  AUTHENTICATION_ERROR: [
    'authentication', 'authenticationfailed', 'clientauthentication', 'unauthorized', 'gatewayauthentication', 'loadapikey', 'refresh',
    'defaultcredentials', 'nocredentials', 'partialcredentials', 'credentialretrieval', 'credentialunavailable', 'tokenretrieval',
    'unauthorizedssotoken', 'ssotokenload', 'invalidtoken', 'credentialsprovider', 'missingapikey',
  ],
  PERMISSION_DENIED: ['permissiondenied', 'forbidden', 'gatedrepo', 'gatewayforbidden'],
  MODEL_NOT_FOUND: ['modelnotfound', 'nosuchmodel', 'notfound', 'gatewaymodelnotfound', 'resourcenotfound', 'repositorynotfound', 'nosuchprovider'],
  INVALID_REQUEST: [
    'badrequest', 'unprocessableentity', 'invalidrequest', 'gatewayinvalidrequest', 'unsupportedparams', 'invalidurl', 'invalidurlclient',
    'unsupportedprotocol', 'localprotocol', 'missingschema', 'invalidschema', 'invalidheader', 'invalidproxyurl', 'malformedurl', 'urisyntax',
    'uriformat', 'invaliduri', 'paramvalidation', 'noregion', 'unknownservice', 'validation', 'validationapi', 'invalidargument', 'invalidprompt',
    'invalidmessagerole', 'invaliddatacontent', 'messageconversion', 'unsupportedfunctionality', 'toomanyembeddingvaluesforcall', 'loadsetting',
    'imagefetch', 'download', 'litellmunknownprovider', 'clientrequest',
  ],
  CONTEXT_LENGTH_EXCEEDED: ['contextwindowexceeded', 'contextlengthexceeded', 'contextoverflow'],
  CONTENT_FILTERED: ['contentpolicyviolation', 'contentfilterfinishreason', 'contentfiltered', 'blockedprompt'],
  QUOTA_EXCEEDED: ['paymentrequired', 'insufficientbalance', 'quotaexceeded', 'budgetexceeded'],
  // An open circuit breaker closes again by itself.
  OVERLOADED: ['serviceunavailable', 'overloaded', 'poolacquirependinglimit', 'callnotpermitted', 'brokencircuit'],
  SERVER_ERROR: ['internalserver', 'badgateway', 'api', 'server', 'gatewayinternalserver', 'serverresponse', 'generation', 'conflict', 'transientai'],
  TIMEOUT: [
    'timeout', 'apitimeout', 'apiconnectiontimeout', 'readtimeout', 'connecttimeout', 'headerstimeout', 'bodytimeout', 'sockettimeout',
    'writetimeout', 'opentimeout', 'pooltimeout', 'poolacquiretimeout', 'connectionpooltimeout', 'deadlineexceeded', 'interruptedio',
    'timeoutrejected', 'httptimeout', 'httprequesttimeout', 'gatewaytimeout', 'sslhandshaketimeout', 'dnsnameresolvertimeout', 'apicalltimeout', 'apicallattempttimeout',
  ],
  CANCELLED: [
    'abort', 'apiuserabort', 'cancelled', 'cancellation', 'canceled', 'requestaborted', 'responseaborted', 'operationcanceled',
    'operationcancelled', 'taskcanceled', 'aborted', 'clientclosedrequest',
  ],
  NETWORK_ERROR: [
    'apiconnection', 'connect', 'connection', 'clientconnector', 'clientconnectordns', 'clientos', 'clientproxyconnection', 'clientconnection',
    'clienthttpproxy', 'serverdisconnected', 'serverconnection', 'maxretry', 'newconnection', 'nameresolution', 'gai', 'read', 'write', 'close',
    'network', 'ssl', 'clientssl', 'clientconnectorssl', 'ssleof', 'sslzeroreturn', 'proxy', 'proxyconnection', 'proxyconnect', 'fetch', 'socket',
    'transport', 'transporter', 'unknownhost', 'noroutetohost', 'sslhandshake', 'remotedisconnected', 'connectionreset', 'connectionrefused',
    'connectionaborted', 'brokenpipe', 'endpointconnection', 'connectionclosed', 'httpclient', 'servicerequest', 'serviceresponse', 'httprequest',
    'httpio', 'web', 'closedchannel', 'closedresource', 'brokenresource', 'unresolvedaddress', 'nohttpresponse', 'httphostconnect', 'route',
    'resourceaccess', 'webclientrequest', 'connectionshutdown', 'connectionterminated', 'openaiio', 'anthropicio', 'bind',
    'unresolvedmodelserver', 'annotatedconnect', 'searchdomainunknownhost', 'portunreachable', 'asynchronousclose', 'cannotsendrequest',
  ],
  STREAM_INTERRUPTED: [
    'incompleteread', 'chunkedencoding', 'clientpayload', 'protocol', 'remoteprotocol', 'transferencoding', 'invalidchunklength', 'endofstream',
    'streamclosed', 'streamreset', 'responsestreaming', 'eventstream', 'prematureclose', 'eof', 'truncatedchunk', 'closedbytechannel',
    'incompletegeneration', 'uimessagestream', 'midstreamfallback',
  ],
  INVALID_RESPONSE: [
    'jsondecode', 'syntax', 'jsonparse', 'typevalidation', 'emptyresponsebody', 'httpparser', 'apiresponsevalidation', 'jsonschemavalidation',
    'decoding', 'contentdecoding', 'decode', 'decoder', 'contenttype', 'unknowncontenttype', 'badhttpmessage', 'badstatusline', 'toomanyredirects',
    'json', 'jsonreader', 'jsonserialization', 'jsonsyntax', 'jsoneof', 'jsondecoding', 'malformedjson', 'mismatchedinput', 'unrecognizedproperty',
    'missingfield', 'parser', 'parsing', 'outputparser', 'brokenresponse', 'unknownapiresponse', 'unserializableresponse', 'openaiinvaliddata',
    'anthropicinvaliddata', 'notransformationfound', 'invalidresponsedata', 'nocontentgenerated', 'nooutputgenerated', 'noimagegenerated',
    'noobjectgenerated', 'lengthfinishreason', 'databufferlimit', 'toolongframe', 'gatewayresponse', 'malformedchunkcoding',
    'incompleteoutput', 'instructorretry', 'nilstatus',
  ],
  TOOL_CALL_INVALID: ['invalidtoolinput', 'invalidtoolarguments', 'nosuchtool', 'toolcallrepair'],
};

/** A certificate that is not trusted stays so. */
// prettier-ignore
const untrusted: ReadonlySet<string> = new Set([
  'sslcertverification', 'clientconnectorcertificate', 'sslpeerunverified', 'certificate', 'certificateexpired', 'certificatenotyetvalid',
  'certpathvalidator', 'certpathbuilder',
]);

const signs = new Map(
  (Object.entries(namesByCode) as readonly (readonly [FailureCode, readonly string[]])[]).flatMap(
    ([code, names]) => names.map((name) => [name, { code }] as const),
  ),
);

/** What a class name says, by itself or as an error code. */
export function signOfName(name: string): Sign | undefined {
  if (name === 'modelerror') return undefined; // Replicate's class for all that a model may fail with.
  const stem = name.replace(/^(?:ai_|.{0,60}\$)/, '').replace(/(?:error|exception)$/, '');
  if (untrusted.has(stem)) return { code: 'NETWORK_ERROR', retryable: false };
  return signs.get(stem) ?? signOfId(name, '') ?? signOfId(stem, '') ?? coarseSignOfId(stem);
}

/** AWS puts its error code into the class name: `ThrottlingException`. */
export function codedName(name: string): Sign | undefined {
  return name.endsWith('exception') ? signOfId(name, '') : undefined;
}
