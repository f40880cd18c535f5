import type { Cause } from '../failure.ts';
import { rememberThrown } from '../live-errors.ts';
import { stackFrames } from '../stack-frames.ts';
import { objectOpening } from './collect-body.ts';
import { causeChain, describeThrown, nameOf, readText } from './safe-read.ts';

/** The thrown value and what caused it, as data. */
export function causesOf(thrown: unknown): readonly Cause[] {
  if (thrown === undefined || thrown === null) return [];
  return causeChain(thrown).map((link) => {
    const code = readText(link, 'code');
    const stack = stackFrames(link);
    const cause = {
      name: nameOf(link) ?? typeof link,
      message: withoutObjects(describeThrown(link)),
      ...(code === undefined ? {} : { code }),
      ...(stack.length === 0 ? {} : { stack }),
    };
    rememberThrown(cause, link);
    return cause;
  });
}

const maxScanLength = 20_000;

/** SDKs write whole bodies into their messages, requests and prompts included. What matters of them stands in the failure. */
function withoutObjects(message: string): string {
  const scanned = message.slice(0, maxScanLength);
  const start = scanned.search(objectOpening);
  return start === -1 ? scanned : `${scanned.slice(0, start)}{…}`;
}
