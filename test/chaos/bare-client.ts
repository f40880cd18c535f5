import http from 'node:http';
import https from 'node:https';

/** What a client without any cleverness has seen so far. */
export interface Seen {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  /** Each value as its own entry, as it came. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  /** As the chunks of HTTP came. */
  readonly chunks: readonly Buffer[];
  /** The errno of what broke it. */
  readonly error: string | undefined;
  /** HTTP says that nothing is missing. */
  readonly isWhole: boolean;
  readonly isOver: boolean;
  readonly interim: number;
}

export interface Asking {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ca?: string;
  readonly agent?: http.Agent;
}

export interface Asked {
  readonly seen: () => Seen;
  /** When the response is over, however it ended. Never rejects. */
  readonly done: Promise<Seen>;
  readonly leave: () => void;
}

/** Sends one request with node:http and notes what comes back. */
export function ask(url: string, asking: Asking = {}): Asked {
  const chunks: Buffer[] = [];
  let [isWhole, isOver, interim] = [false, false, 0];
  let error: string | undefined;
  let response: http.IncomingMessage | undefined;
  const { body, ca, agent, headers, method = body === undefined ? 'GET' : 'POST' } = asking;
  const send = url.startsWith('https:') ? https.request : http.request;
  const request = send(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    agent: agent ?? false,
    ...(ca === undefined ? {} : { ca }),
  });
  const seen = (): Seen => ({
    status: response?.statusCode,
    headers: response?.headers ?? {},
    rawHeaders: response?.rawHeaders ?? [],
    bytes: Buffer.concat(chunks),
    chunks,
    error,
    isWhole,
    isOver,
    interim,
  });
  const note = (thrown: NodeJS.ErrnoException): void => {
    error ??= thrown.code ?? thrown.message;
  };
  const done = new Promise<Seen>((resolve) => {
    const finish = (): void => {
      isOver = true;
      resolve(seen());
    };
    request.on('error', note);
    request.on('information', () => {
      interim += 1;
    });
    request.on('response', (incoming) => {
      response = incoming;
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', note);
      incoming.on('close', () => {
        isWhole = incoming.complete;
        finish();
      });
    });
    request.on('close', () => {
      if (response === undefined) finish();
    });
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return { seen, done, leave: () => void request.destroy() };
}

/** Server-sent events as the standard reads them, from a text that is whole. */
export function eventsOf(text: string): readonly { readonly name: string; readonly data: string }[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n\r\n|\n\n|\r\r/)
    .flatMap((block) => {
      const lines = block.split(/\r\n|\n|\r/);
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
      const name =
        lines
          .find((line) => line.startsWith('event:'))
          ?.slice(6)
          .trim() ?? '';
      return data.length === 0 ? [] : [{ name, data: data.join('\n') }];
    });
}

/** Waits for something that another turn of the event loop brings about. */
export async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error('It did not come about within 20 s');
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
}
