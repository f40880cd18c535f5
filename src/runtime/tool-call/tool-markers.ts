import { unreachable } from '../../base/assert.ts';
import { causeChain } from '../../errors/classify/safe-read.ts';
import type { FailDetails } from '../../model/tool.ts';

/** What a tool said by `context.retry`, `context.fail` or `context.ask`. */
export type ToolMarker =
  | { readonly type: 'ask'; readonly question: string }
  | { readonly type: 'retry'; readonly hint: string }
  | { readonly type: 'fail'; readonly message: string; readonly details: FailDetails };

// By identity and not by a field: whatever a tool throws, it cannot look like one of these.
const markers = new WeakMap<object, ToolMarker>();

/** An error to throw that holds what the tool said. */
export function markedError(marker: ToolMarker): Error {
  const error = new Error(textOfMarker(marker));
  error.name = errorNames[marker.type];
  markers.set(error, marker);
  return error;
}

const errorNames = {
  ask: 'ToolAsk',
  retry: 'ToolRetry',
  fail: 'ToolFail',
} as const satisfies Record<ToolMarker['type'], string>;

/** The tool's own words. */
export function textOfMarker(marker: ToolMarker): string {
  switch (marker.type) {
    case 'ask':
      return marker.question;
    case 'retry':
      return marker.hint;
    case 'fail':
      return marker.message;
    default:
      return unreachable(marker);
  }
}

/** What the tool said, where this was thrown or returned for it; also where it was wrapped as a `cause`. */
export function markerOf(value: unknown): ToolMarker | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return markers.get(value);
}

/** Likewise, and also looks at what caused it. */
export function markerWithin(thrown: unknown): ToolMarker | undefined {
  for (const link of causeChain(thrown)) {
    const marker = markerOf(link);
    if (marker !== undefined) return marker;
  }
  return undefined;
}
