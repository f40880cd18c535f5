import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  classifyFailure,
  classifyProviderFailure,
  createFailure,
  failureTraits,
  ModelError,
  origins,
  RerailError,
  StorageError,
} from '../src/errors/index.ts';

// Workers and child processes cannot load TypeScript on Node 20, so they get the compiled package, as users do.
let folder = '';
let compiled = '';

beforeAll(() => {
  const cache = path.resolve('node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(path.join(cache, 'failure-journeys-'));
  compiled = path.join(folder, 'dist');
  // Type errors are the business of another gate: here a half-written neighbour must not matter.
  const options = ['--outDir', compiled, '--declaration', 'false', '--declarationMap', 'false', '--noCheck'];
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.build.json', ...options], { stdio: 'pipe' });
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a failure crosses a worker', () => {
  it('that throws it, and comes back as the right class with the same JSON', async () => {
    // The worker classifies with its own copy of the package and posts the JSON; a structured clone would drop the class.
    const messages = await runWorker(`
      const { classifyFailure, RerailError } = await import(workerData.entry);
      const error = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
      try {
        throw RerailError.from(classifyFailure(error, 'storage'), { cause: error });
      } catch (thrown) {
        parentPort.postMessage(JSON.stringify(thrown));
      }
    `);
    const error = RerailError.fromJSON(JSON.parse(String(messages[0])));
    expect(error).toBeInstanceOf(StorageError);
    expect(error).toMatchObject({ code: 'STORAGE_LOCKED', retryable: true });
    expect(error.cause).toMatchObject({ message: 'database is locked', code: 'SQLITE_BUSY' });
    expect(JSON.stringify(error)).toBe(messages[0]);
  });

  it('as a document that structured clone carries', async () => {
    const messages = await runWorker(`
      const { classifyProviderFailure, RerailError } = await import(workerData.entry);
      const failure = classifyProviderFailure({ provider: 'openai', status: 429, headers: { 'retry-after': '7' } });
      parentPort.postMessage(RerailError.from(failure).toJSON());
    `);
    const expected = classifyProviderFailure({
      provider: 'openai',
      status: 429,
      headers: { 'retry-after': '7' },
    });
    expect(RerailError.fromJSON(messages[0]).failure).toEqual(expected);
    // Whoever classifies the message finds the failure in it, whatever the origin there.
    expect(classifyFailure(messages[0], 'agent')).toEqual(expected);
  });

  it('that dies of it: what is left on the other side still has a type', async () => {
    const worker = startWorker(`
      const { classifyFailure, RerailError } = await import(workerData.entry);
      throw RerailError.from(classifyFailure(new Error('no such table'), 'storage'));
    `);
    const [thrown] = (await once(worker, 'error')) as readonly unknown[];
    // Node clones an uncaught error by name and message only, so its class is lost and its own fields may be.
    expect(classifyFailure(thrown, 'storage')).toMatchObject({ code: 'STORAGE_IO', origin: 'storage' });
    expect(classifyFailure(thrown, 'storage').message).toContain('no such table');
  });
});

describe('a failure crosses HTTP', () => {
  it('with its status, and comes back as the right class with the same JSON', async () => {
    const sent = RerailError.from(
      classifyProviderFailure({
        provider: 'anthropic',
        model: 'claude-sonnet-5',
        status: 429,
        headers: { 'retry-after': '12', 'request-id': 'req_7' },
        body: '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down — 你好 \u{1F642}"}}',
      }),
    );
    const server = createServer((_, response) => {
      response.writeHead(failureTraits[sent.code].httpStatus, { 'content-type': 'application/json' });
      response.end(JSON.stringify(sent));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/`);
      expect(response.status).toBe(429);
      const text = await response.text();
      const received = RerailError.fromJSON(JSON.parse(text));
      expect(received).toBeInstanceOf(ModelError);
      expect(received).toMatchObject({ code: 'RATE_LIMITED', failure: { retryAfterMs: 12_000 } });
      expect(received.failure).toEqual(sent.failure);
      expect(JSON.stringify(received)).toBe(text);
    } finally {
      server.close();
    }
  });
});

describe('a failure crosses a file', () => {
  it('of every origin, one a line, and comes back as the right class with the same JSON', () => {
    const errors = origins.map((origin) =>
      RerailError.from(
        createFailure('UNKNOWN', {
          origin,
          message: `In ${origin}:\n"quoted" — \u2028 \u{1F642} \\`,
          context: { line: 'a\nb' },
        }),
      ),
    );
    const file = path.join(folder, 'failures.jsonl');
    writeFileSync(file, errors.map((error) => `${JSON.stringify(error)}\n`).join(''));
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const revived = lines.map((line) => RerailError.fromJSON(JSON.parse(line)));
    expect(revived.map(({ constructor }) => constructor)).toEqual(
      errors.map(({ constructor }) => constructor),
    );
    expect(revived.map(({ failure }) => failure)).toEqual(errors.map(({ failure }) => failure));
    expect(revived.map((error) => JSON.stringify(error))).toEqual(lines);
  });
});

describe('importing rerail/errors', () => {
  // Watched through the compiled files; the hook sees every import, of whatever depth.
  const hook = `
    import * as module from 'node:module';
    import { writeSync } from 'node:fs';
    if (typeof module.registerHooks === 'function') {
      module.registerHooks({ resolve(specifier, context, next) {
        const found = next(specifier, context);
        writeSync(1, found.url + '\\n');
        return found;
      } });
    } else {
      const source = "import { writeSync } from 'node:fs'; export async function resolve(specifier, context, next) { const found = await next(specifier, context); writeSync(1, found.url + '\\\\n'); return found; }";
      module.register('data:text/javascript,' + encodeURIComponent(source));
    }
  `;

  it('is really watched: a module of node_modules would be seen', () => {
    const urls = importedBy(
      `import '${pathToFileURL(path.resolve('node_modules/fast-check/lib/fast-check.js')).href}';`,
    );
    expect(urls.filter((url) => url.includes('/node_modules/fast-check/')).length).toBeGreaterThan(0);
  });

  it('loads no module of anybody else, and none of Node that touches the world', () => {
    const urls = importedBy(`import '${entryUrl()}';`).filter((url) => !url.startsWith('data:'));
    const ours = urls.filter((url) => url.startsWith(pathToFileURL(compiled).href));
    expect(ours.length).toBeGreaterThan(20);
    expect(urls.filter((url) => !ours.includes(url))).toEqual([]);
  });

  it('starts nothing: the process ends by itself, silent, with code 0', () => {
    const program = `
      const errors = await import('${entryUrl()}');
      if (typeof errors.classifyFailure !== 'function') throw new Error('nothing was imported');
      // What the loader itself does with files is not ours.
      const active = process.getActiveResourcesInfo().filter((name) => !/^(?:FSReq|CloseReq)/.test(name));
      if (active.length > 0) throw new Error('something was started: ' + active);
    `;
    expect(runNode(['--input-type=module', '--eval', program])).toBe('');
  });

  it('gives a second program the same classes to throw and to catch', () => {
    const program = `
      import { RerailError, ModelError, classifyProviderFailure } from '${entryUrl()}';
      const error = RerailError.from(classifyProviderFailure({ status: 529 }));
      console.log(error instanceof ModelError, ModelError.isInstance(error), String(error.code));
    `;
    expect(runNode(['--input-type=module', '--eval', program]).trim()).toBe('true true OVERLOADED');
  });

  function importedBy(program: string): readonly string[] {
    const hookUrl = `data:text/javascript,${encodeURIComponent(hook)}`;
    const output = runNode(['--import', hookUrl, '--input-type=module', '--eval', program]);
    return output.split('\n').filter((url) => /^(?:file|node|data):/.test(url));
  }
});

function entryUrl(): string {
  return pathToFileURL(path.join(compiled, 'errors/index.js')).href;
}

/** Runs Node to its end. Whatever keeps it alive for ten seconds was started and never stopped. */
function runNode(parameters: readonly string[]): string {
  return execFileSync(process.execPath, parameters, {
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function startWorker(program: string): Worker {
  const source = `import { parentPort, workerData } from 'node:worker_threads';\n${program}`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  return new Worker(url, { workerData: { entry: entryUrl() } });
}

async function runWorker(program: string): Promise<readonly unknown[]> {
  const worker = startWorker(program);
  const messages: unknown[] = [];
  worker.on('message', (message) => messages.push(message));
  const [exitCode] = (await once(worker, 'exit')) as readonly unknown[];
  expect(exitCode).toBe(0);
  return messages;
}
