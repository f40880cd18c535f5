import { Buffer } from 'node:buffer';
import { answeredFailure, wrongDocumentFailure } from './attempt-failures.ts';
import type { Attempt } from './attempt-state.ts';
import type { TransportResponse } from './transport.ts';

const maxRefusalBytes = 256 * 1024;
const maxEvidenceBytes = 4 * 1024;

/** An answer with a bad status: its beginning says why. */
export async function readRefusal(attempt: Attempt, response: TransportResponse): Promise<void> {
  const head = createHead(maxRefusalBytes);
  attempt.refusalText = head.text;
  await readHead(attempt, response, head);
  attempt.end(answeredFailure(attempt.facts(), head.text()));
}

/** A good status and a page, or whatever else is no answer of an API: its beginning is the evidence. */
export async function readOther(attempt: Attempt, response: TransportResponse): Promise<void> {
  const head = createHead(maxEvidenceBytes);
  await readHead(attempt, response, head);
  attempt.end(wrongDocumentFailure(attempt.facts(), head.text()));
}

async function readHead(attempt: Attempt, response: TransportResponse, head: Head): Promise<void> {
  for await (const chunk of response.body) {
    attempt.watch.event();
    if (!head.add(chunk) || attempt.isEnded()) return;
  }
}

interface Head {
  /** Returns false when there is enough. */
  readonly add: (chunk: Uint8Array) => boolean;
  readonly text: () => string;
}

/** The beginning of a body. */
function createHead(maxBytes: number): Head {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      chunks.push(Buffer.from(chunk.subarray(0, maxBytes - bytes))); // A chunk is ours only until the next one.
      bytes += Math.min(chunk.length, maxBytes - bytes);
      return bytes < maxBytes;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}
