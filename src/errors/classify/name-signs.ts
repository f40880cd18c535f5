import type { FailureCode } from '../codes.ts';
import { signOfId } from './error-ids.ts';
import type { Sign } from './verdict.ts';

/** Names of error classes in SDKs and runtimes, in lower case. Wrappers choose them carelessly, so they speak late. */
const namesByCode: Partial<Record<FailureCode, readonly string[]>> = {
  RATE_LIMITED: ['ratelimiterror', 'ratelimitexception', 'gatewayratelimiterror', 'toomanyrequestserror'],
  AUTHENTICATION_ERROR: [
    'authenticationerror',
    'unauthorizederror',
    'gatewayauthenticationerror',
    'loadapikeyerror',
    'ai_loadapikeyerror',
  ],
  PERMISSION_DENIED: ['permissiondeniederror', 'forbiddenerror'],
  MODEL_NOT_FOUND: [
    'modelnotfounderror',
    'nosuchmodelerror',
    'ai_nosuchmodelerror',
    'notfounderror',
    'gatewaymodelnotfounderror',
  ],
  INVALID_REQUEST: [
    'badrequesterror',
    'unprocessableentityerror',
    'invalidrequesterror',
    'gatewayinvalidrequesterror',
    'unsupportedparamserror',
  ],
  CONTEXT_LENGTH_EXCEEDED: ['contextwindowexceedederror'],
  CONTENT_FILTERED: ['contentpolicyviolationerror'],
  OVERLOADED: ['serviceunavailableerror', 'serviceunavailable'],
  SERVER_ERROR: [
    'internalservererror',
    'badgatewayerror',
    'apierror',
    'servererror',
    'gatewayinternalservererror',
  ],
  TIMEOUT: [
    'timeouterror',
    'apitimeouterror',
    'apiconnectiontimeouterror',
    'readtimeout',
    'readtimeouterror',
    'connecttimeout',
    'connecttimeouterror',
    'headerstimeouterror',
    'bodytimeouterror',
    'timeoutexception',
    'sockettimeoutexception',
    'writetimeout',
    'pooltimeout',
    'deadlineexceeded',
    'sockettimeout',
  ],
  CANCELLED: ['aborterror', 'apiuseraborterror', 'cancellederror', 'requestabortederror', 'responseaborted'],
  NETWORK_ERROR: [
    'apiconnectionerror',
    'connecterror',
    'connectionerror',
    'clientconnectorerror',
    'maxretryerror',
    'newconnectionerror',
    'readerror',
    'sslerror',
    'proxyerror',
    'fetcherror',
    'socketerror',
    'unknownhostexception',
    'connectexception',
    'sslhandshakeexception',
  ],
  STREAM_INTERRUPTED: ['incompleteread', 'chunkedencodingerror', 'clientpayloaderror', 'protocolerror'],
  INVALID_RESPONSE: [
    'jsondecodeerror',
    'syntaxerror',
    'jsonparseerror',
    'ai_jsonparseerror',
    'ai_typevalidationerror',
    'typevalidationerror',
    'emptyresponsebodyerror',
    'ai_emptyresponsebodyerror',
    'httpparsererror',
  ],
};

const signs = new Map(
  (Object.entries(namesByCode) as readonly (readonly [FailureCode, readonly string[]])[]).flatMap(
    ([code, names]) => names.map((name) => [name, { code }] as const),
  ),
);

/** What a class name says. The names of AWS exceptions are error codes in truth. */
export function signOfName(name: string): Sign | undefined {
  return signs.get(name);
}

/** AWS puts its error code into the class name: `ThrottlingException`. */
export function codedName(name: string): Sign | undefined {
  return name.endsWith('exception') ? signOfId(name, '') : undefined;
}
