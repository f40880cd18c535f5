import type { IncomingMessage } from 'node:http';

const maxBodyBytes = 64 * 1024 * 1024;

/** The body of a request. `undefined` in `parsed` and a complaint where it is not JSON. */
export interface ReadBody {
  readonly parsed: unknown;
  readonly bytes: number;
  readonly complaint: string | undefined;
}

/** Reads the whole body, up to 64 MB. Gives nothing where the client left before its end. */
export async function readBody(request: IncomingMessage): Promise<ReadBody | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    return undefined; // The client hung up while it sent.
  }
  if (bytes === 0) return { parsed: undefined, bytes, complaint: undefined };
  if (bytes > maxBodyBytes) return { parsed: undefined, bytes, complaint: 'The body is larger than 64 MB' };
  try {
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return { parsed, bytes, complaint: undefined };
  } catch {
    return { parsed: undefined, bytes, complaint: 'We could not parse the JSON body of your request.' };
  }
}

const maxRecordedBytes = 64 * 1024;

/** What of a body is remembered. */
export function recordedBody({ parsed, bytes }: ReadBody): unknown {
  return bytes > maxRecordedBytes ? `[left out: ${bytes} bytes]` : parsed;
}
