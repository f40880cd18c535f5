import { collectText, collectValue } from './collect-body.ts';
import { add, addCode } from './collector.ts';
import type { Collector } from './collector.ts';
import { collectHeaders } from './collect-headers.ts';
import { causeChain, describeThrown, isInstanceOf, nameOf, readProperty } from './safe-read.ts';

/**
 * Reads what was thrown: an SDK's error, a fetch's, a plain text. Only named fields are touched, for such objects also
 * carry the request with its headers and its prompt.
 */
export function collectError(collector: Collector, thrown: unknown): void {
  for (const link of causeChain(thrown)) collectLink(collector, link);
}

function collectLink(collector: Collector, link: unknown): void {
  if (typeof link === 'string') {
    collectText(collector, link);
    return;
  }
  const name = nameOf(link);
  if (name !== undefined && name !== 'Object') add(collector.names, name);
  for (const key of codeKeys) collectCode(collector, readProperty(link, key));
  collectCode(collector, readProperty(readProperty(link, '$metadata'), 'httpStatusCode'));
  const response =
    readProperty(link, 'response') ?? readProperty(link, '$response') ?? readProperty(link, 'rawResponse');
  collectCode(collector, readProperty(response, 'status'));
  collectCode(collector, readProperty(response, 'statusCode'));
  for (const holder of [link, response]) {
    collectHeaders(collector.headers, readProperty(holder, 'headers'));
    collectHeaders(collector.headers, readProperty(holder, 'responseHeaders'));
  }
  for (const key of requestIdKeys) {
    const id = readProperty(link, key);
    if (typeof id === 'string') add(collector.requestIds, id);
  }
  collectText(collector, describeThrown(link));
  for (const key of bodyKeys) collectBody(collector, readProperty(link, key));
  for (const key of bodyKeys) collectBody(collector, readProperty(response, key));
}

const codeKeys = ['status', 'statusCode', 'code', 'type', 'errno', 'errorCode', 'status_code'] as const;
const bodyKeys = ['body', 'responseBody', 'data', 'error', 'rawBody'] as const;
const requestIdKeys = ['requestID', 'request_id', 'requestId', '_request_id'] as const;

function collectCode(collector: Collector, value: unknown): void {
  if (typeof value === 'string' || (typeof value === 'number' && value > 0)) addCode(collector, value);
}

function collectBody(collector: Collector, body: unknown): void {
  // Error objects are links of the chain, not bodies.
  if (!isInstanceOf(body, Error)) collectValue(collector, body, 0);
}
