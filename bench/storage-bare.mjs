// The hand-written loops of bench/storage.mjs: each writes the result of every step into a table by itself, and checks nothing.
import { Agent, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import {
  instructions,
  key,
  lookUp,
  modelName,
  prompt,
  toolDescription,
  toolJsonSchema,
  toolName,
} from './agent-task.mjs';

/**
 * @typedef {{ id: string, type: 'function', function: { name: string, arguments: string } }} Call
 * @typedef {{ text: string, calls: Call[] }} Turn
 * @typedef {{ choices: { delta?: {
 *   content?: string | null,
 *   tool_calls?: { index: number, id?: string, function?: { name?: string, arguments?: string } }[],
 * } }[] }} Chunk
 * @typedef {{ run: (...values: (string | number)[]) => unknown }} Statement
 * @typedef {{ exec: (sql: string) => void, prepare: (sql: string) => Statement, close: () => void }} Database
 */

/** As the store chooses it: Node's own SQLite where there is one, else the package. @returns {new (file: string) => Database} */
function loadDriver() {
  const require = createRequire(import.meta.url);
  const driver = /** @type {unknown} */ (
    process.getBuiltinModule('node:sqlite') ?? require('@photostructure/sqlite')
  );
  return /** @type {{ DatabaseSync: new (file: string) => Database }} */ (driver).DatabaseSync;
}

/**
 * A table of steps. What was written is on the disk, as in the store: the write-ahead log, and full sync.
 *
 * @param {string} file
 */
export function openStepTable(file) {
  const DatabaseSync = loadDriver();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec(
    'CREATE TABLE IF NOT EXISTS steps (run TEXT, step INTEGER, body TEXT, PRIMARY KEY (run, step)) WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT INTO steps (run, step, body) VALUES (?, ?, ?)');
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  return {
    /**
     * One transaction.
     *
     * @param {string} run
     * @param {number} step
     * @param {unknown} body
     */
    keep: (run, step, body) => void insert.run(run, step, JSON.stringify(body)),
    /**
     * One transaction for all of them.
     *
     * @param {readonly { run: string, step: number, body: unknown }[]} steps
     */
    keepAll: (steps) => {
      begin.run();
      for (const { run, step, body } of steps) insert.run(run, step, JSON.stringify(body));
      commit.run();
    },
    close: () => database.close(),
  };
}

const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
const tools = [
  {
    type: 'function',
    function: { name: toolName, description: toolDescription, parameters: toolJsonSchema },
  },
];

/** @typedef {(url: string, messages: readonly object[]) => Promise<Turn>} Ask */

/**
 * The bare loop with a table. One transaction for each answer of the model and each result of the tool.
 *
 * @param {Ask} ask
 * @param {{ baseURL: string, file: string }} task
 * @returns {import('./agent-task.mjs').Run}
 */
export function createBareRun(ask, { baseURL, file }) {
  const table = openStepTable(file);
  const url = `${baseURL}/chat/completions`;
  return async () => {
    const run = crypto.randomUUID();
    let step = 0;
    /** @type {object[]} */
    const messages = [
      { role: 'system', content: instructions },
      { role: 'user', content: prompt },
    ];
    for (;;) {
      const turn = await ask(url, messages);
      table.keep(run, (step += 1), turn);
      if (turn.calls.length === 0) return turn.text;
      messages.push({ role: 'assistant', content: null, tool_calls: turn.calls });
      for (const call of turn.calls) {
        const input = /** @type {{ query: string }} */ (JSON.parse(call.function.arguments));
        const message = { role: 'tool', tool_call_id: call.id, content: lookUp(input) };
        table.keep(run, (step += 1), message);
        messages.push(message);
      }
    }
  };
}

/** @type {Ask} */
export async function askByFetch(url, messages) {
  const response = await fetch(url, { method: 'POST', headers, body: writeBody(messages) });
  const reader = createReader();
  const chunks = /** @type {AsyncIterable<Uint8Array>} */ (response.body);
  for await (const chunk of chunks) reader.push(chunk);
  return reader.turn;
}

const agent = new Agent({ keepAlive: true });

/** @type {Ask} */
export function askByHttp(url, messages) {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
      const reader = createReader();
      response.on('data', (/** @type {Uint8Array} */ chunk) => reader.push(chunk));
      response.on('end', () => resolve(reader.turn));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(writeBody(messages));
  });
}

/** @param {readonly object[]} messages */
const writeBody = (messages) =>
  JSON.stringify({
    model: modelName,
    messages,
    tools,
    stream: true,
    stream_options: { include_usage: true },
  });

function createReader() {
  const decoder = new TextDecoder();
  let rest = '';
  /** @type {Turn} */
  const turn = { text: '', calls: [] };
  return {
    turn,
    /** @param {Uint8Array} bytes */
    push(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) take(turn, event.slice('data: '.length));
    },
  };
}

/**
 * @param {Turn} turn
 * @param {string} data
 */
function take(turn, data) {
  if (data === '[DONE]') return;
  const { choices } = /** @type {Chunk} */ (JSON.parse(data));
  const delta = choices[0]?.delta;
  turn.text += delta?.content ?? '';
  for (const { index, id = '', function: piece } of delta?.tool_calls ?? []) {
    const call = (turn.calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } });
    call.function.name += piece?.name ?? '';
    call.function.arguments += piece?.arguments ?? '';
  }
}
