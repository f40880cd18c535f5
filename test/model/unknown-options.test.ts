import { describe, expect, it } from 'vitest';
import { chaos, startChaosServer } from '../../src/chaos/index.ts';
import { dbos } from '../../src/engines/dbos/index.ts';
import { restate } from '../../src/engines/restate/index.ts';
import { temporal } from '../../src/engines/temporal/index.ts';
import { capability, flow, handOff, plan, team } from '../../src/flow/index.ts';
import * as rerail from '../../src/index.ts';
import { createState, requestOf } from '../../src/machine/index.ts';
import { createGates } from '../../src/model/index.ts';
import * as providers from '../../src/providers/index.ts';
import { postgres } from '../../src/storage/postgres/index.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { openTelemetry } from '../../src/telemetry/index.ts';
import { memoryStore, scriptedModel, simulatedClock } from '../../src/testing/index.ts';
import { fetchTool, openWorkspace, workspaceTools } from '../../src/tools/workspace/index.ts';

const { createAgent, tool } = rerail;
const model = scriptedModel([]);
const agent = createAgent({ name: 'clerk', model });
const store = memoryStore();
const fake = { specificationVersion: 'v2', provider: 'x', modelId: 'y', doGenerate: go, doStream: go };
function go(): never {
  throw new Error('never asked');
}

/** A call of a public function with one option misspelt, as code without types may write it, and the name that was meant. */
type Misspelt = readonly [name: string, make: (options: never) => unknown, options: object, meant: string];

const messages = [{ role: 'user', content: 'hi' }] as const;
const { state } = createState({ name: 'a', models: [model] }, 'hi');
const environment = { OPENAI_API_KEY: 'sk-none', GEMINI_API_KEY: 'none', AZURE_OPENAI_API_KEY: 'none' };
const built = Object.entries({
  openai: providers.openai,
  anthropic: providers.anthropic,
  gemini: providers.gemini,
  ollama: providers.ollama,
  azure: providers.azure,
  vertex: providers.vertex,
  groq: providers.groq,
  mistral: providers.mistral,
  vllm: providers.vllm,
}).flatMap<Misspelt>(([name, provider]) => [
  [name, (options) => provider('m', options), { environment, baseUrl: 'http://127.0.0.1' }, 'baseURL'],
  [`${name}.describe`, (options) => provider.describe('m', options), { baseUrl: 'x' }, 'baseURL'],
]);

const cases: readonly Misspelt[] = [
  ...built,
  [
    'openai, a field of its own',
    (options) => providers.openai('m', options),
    { organisation: 'a' },
    'organization',
  ],
  ['openaiEmbedding', (options) => providers.openaiEmbedding('m', options), { baseUrl: 'x' }, 'baseURL'],
  ['geminiEmbedding', (options) => providers.geminiEmbedding('m', options), { dimension: 3 }, 'dimensions'],
  [
    'openaiCompatible',
    (options) => providers.openaiCompatible(options),
    { name: 'a', baseUrl: 'x' },
    'baseURL',
  ],
  ['resolveModel', (options) => providers.resolveModel('openai:m', options), { baseUrl: 'x' }, 'baseURL'],
  ['createModelRegistry', (options) => providers.createModelRegistry(options), { provider: {} }, 'providers'],
  [
    'createNodeTransport',
    (options) => providers.createNodeTransport(options),
    { maxSocket: 1 },
    'maxSockets',
  ],
  ['aiSdk', (options) => providers.aiSdk(fake, options), { allowWarning: true }, 'allowWarnings'],
  ['simulated', (options) => providers.simulated(options), { delayMS: 5 }, 'delayMs'],
  ['createAgent', (options) => createAgent(options), { model, instruction: 'x' }, 'instructions'],
  ['policy of an agent', (policy) => createAgent({ model, policy }), { retrys: 'patient' }, 'retry'],
  ['tool', (options) => tool(options), { name: 'a', timeOutMs: 5 }, 'timeoutMs'],
  ['createWorker', (options) => rerail.createWorker([agent], store, options), { pollMS: 5 }, 'pollMs'],
  ['agent.run', (options) => agent.run('hi', options), { runID: 'a' }, 'runId'],
  ['agent.resume', (options) => agent.resume('a', options), { anwser: 1 }, 'answer'],
  ['callModel', (options) => rerail.callModel(model, { messages: [] }, options), { signals: 1 }, 'signal'],
  ['exportRun', (options) => rerail.exportRun(store, 'a', options), { childen: false }, 'children'],
  ['importRun', (options) => rerail.importRun(store, '{}', options), { form: 'a' }, 'from'],
  ['forkRun', (options) => rerail.forkRun(store, options), { runID: 'a', seq: 1 }, 'runId'],
  ['copyRuns', (options) => rerail.copyRuns(store, memoryStore(), options), { removed: true }, 'remove'],
  ['salvageRuns', (options) => rerail.salvageRuns(store, memoryStore(), options), { signals: 1 }, 'signal'],
  ['replayRun', (options) => rerail.replayRun({ store, runId: 'a' }, options).next(), { too: 1 }, 'to'],
  ['sqlite', (options) => sqlite('never.db', options), { durabilty: 'required' }, 'durability'],
  ['postgres', (options) => postgres('postgres://h/d', options), { shema: 'a' }, 'schema'],
  ['memoryStore', (options) => memoryStore(options), { fault: {} }, 'faults'],
  ['scriptedModel', (options) => scriptedModel([], options), { repeats: 'last' }, 'repeat'],
  ['simulatedClock', (options) => simulatedClock(options), { startWallMS: 5 }, 'startWallMs'],
  ['openTelemetry', (options) => openTelemetry(options), { recordContents: true }, 'recordContent'],
  ['startChaosServer', (options) => startChaosServer(options), { fault: {} }, 'faults'],
  ['chaos', (options) => chaos(model, options), { faults: { rate: 0.3 }, sead: 5 }, 'seed'],
  ['openWorkspace', (options) => openWorkspace('.', options), { protects: [] }, 'protect'],
  ['workspaceTools', (options) => workspaceTools({} as never, options), { shel: false }, 'shell'],
  ['fetchTool', (options) => fetchTool(options), { timeoutMS: 5 }, 'timeoutMs'],
  ['flow', (options) => flow('a', options), { agents: { a: agent }, node: {} }, 'nodes'],
  ['handOff', (options) => handOff(options), { agents: { a: agent }, star: 'a' }, 'start'],
  ['team', (options) => team(options), { lead: agent, agents: { a: agent }, member: {} }, 'members'],
  ['plan', (options) => plan(options), { model, capability: [] }, 'capabilities'],
  [
    'retryPolicy of a capability',
    (retryPolicy) =>
      capability({ name: 'a', description: 'A.', effect: 'read', retryPolicy, execute: () => ({}) }),
    { maxAttemps: 2 },
    'maxAttempts',
  ],
  [
    'retry of createState',
    (retry) => createState({ name: 'a', models: [model], retry }, 'hi'),
    { maxAttemps: 2 },
    'maxAttempts',
  ],
  ['requestOf', (options) => requestOf(state, options), { instruction: 'a' }, 'instructions'],
  [
    'price of a model',
    (price) => providers.openai('m', { price, environment }),
    { inputUSDs: 1 },
    'inputUsd',
  ],
  [
    'price of an embedding model',
    (price) => providers.openaiEmbedding('m', { price, environment }),
    { outputUsds: 1 },
    'outputUsd',
  ],
  [
    'capabilities of a model',
    (capabilities) => providers.anthropic('m', { capabilities, environment }),
    { toools: true },
    'tools',
  ],
  [
    'capabilities of defineModel',
    (capabilities) => rerail.defineModel({ provider: 'a', model: 'b', stream: () => [], capabilities }),
    { image: true },
    'images',
  ],
  ['price of aiSdk', (price) => providers.aiSdk(fake, { price }), { inputUsds: 1 }, 'inputUsd'],
  ['price of scriptedModel', (price) => scriptedModel([], { price }), { inputUsds: 1 }, 'inputUsd'],
  ['tls', (tls) => providers.createNodeTransport({ tls }), { certt: 'x' }, 'cert'],
  ['createGates', (options) => createGates(options), { clocks: 1 }, 'clock'],
  ['policy of createGates', (policy) => createGates({ policy }), { maxInflights: 1 }, 'maxInFlight'],
  [
    'isolate',
    (isolate) => tool({ name: 'a', description: 'A.', input: {}, isolate }),
    { modul: '/a.js' },
    'module',
  ],
  ['settings', (settings) => createAgent({ model, settings }), { temprature: 0 }, 'temperature'],
  ['reasoning', (reasoning) => createAgent({ model, settings: { reasoning } }), { efort: 'low' }, 'effort'],
  [
    'a tool of a request',
    (one) => rerail.callModel(model, { messages, tools: [one] }),
    { name: 'a', descripton: 'A.', parameters: {} },
    'description',
  ],
  [
    'the output of a request',
    (output) => rerail.callModel(model, { messages, output }),
    { name: 'a', schema: {}, strickt: true },
    'strict',
  ],
  ['runs.list', (query) => store.runs.list(query), { statsu: ['failed'] }, 'status'],
  ['runs.list of sqlite', (query) => sqlite('never.db').runs.list(query), { statsu: ['failed'] }, 'status'],
  ['runs.prune', (rule) => store.runs.prune(rule), { maxAge: 5 }, 'maxAgeMs'],
  ['runs.prune of sqlite', (rule) => sqlite('never.db').runs.prune(rule), { maxAge: 5 }, 'maxAgeMs'],
  ['faults of memoryStore', (faults) => memoryStore({ faults }), { befor: go }, 'before'],
  ['runUntil', (options) => simulatedClock().runUntil(Promise.resolve(), options), { maxMS_: 5 }, 'maxMs'],
  ['faults of chaos', (faults) => chaos(model, { faults }), { rate: 0.3, kind: [] }, 'kinds'],
  [
    'a fault',
    (fault) => chaos(model, { faults: { script: [fault] } }),
    { name: 'delay', delayMs: 5, whenn: 1 },
    'when',
  ],
  ['faults of startChaosServer', (faults) => startChaosServer({ faults }), { rate: 0.3, kind: [] }, 'kinds'],
  ['a turn of simulated', (turn) => providers.simulated({ plan: [turn] }), { texts: 'a' }, 'text'],
  [
    'an entry of a script',
    (entry) => rerail.createAgent({ model: scriptedModel([entry]) }).runOrThrow('hi'),
    { texts: 'a' },
    'text',
  ],
  [
    'a call of a script',
    (call) => rerail.createAgent({ model: scriptedModel([{ toolCalls: [call] }]) }).runOrThrow('hi'),
    { name: 'a', argument: {} },
    'arguments',
  ],
  ['restate', (options) => restate(options), { ingressURL: 'http://127.0.0.1' }, 'ingressUrl'],
  ['dbos', (options) => dbos(options), { databaseURL: 'postgres://h/d' }, 'databaseUrl'],
  ['temporal', (options) => temporal(options), { nameSpace: 'a' }, 'namespace'],
];

describe('a misspelt option', () => {
  it.each(cases)('of %s is refused with the name that was meant', async (...[, make, options, meant]) => {
    const promised = (async () => make(options as never))(); // What no type stops at run time.
    await expect(promised).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    await expect(promised).rejects.toThrow(new RegExp(`no (?:option|field) .*did you mean "${meant}"\\?$`));
  });

  it('of the retry of a node is refused as a flow that makes no sense', () => {
    const retry = { maxAttemps: 2 } as object;
    const making = () => flow('a', { agents: { a: agent }, nodes: { a: { retry } } });
    expect(making).toThrow(
      /^"retry" of the node "a" .*no option "maxAttemps" .*did you mean "maxAttempts"\?$/,
    );
  });

  it('that is undefined is an absent one, as spreading an optional value writes it', () => {
    const options: object = { apiKey: 'sk-none', baseUrl: undefined };
    expect(providers.openai('gpt-5.2', options)).toMatchObject({ provider: 'openai', name: 'gpt-5.2' });
  });

  it('without a near name is answered with all that there are', () => {
    expect(() => openTelemetry({ zzz: 1 } as object)).toThrow(
      'There is no option "zzz" of openTelemetry(): known are api, tracerName, recordContent',
    );
  });
});

describe('an option with a value that makes no sense', () => {
  it.each<readonly [string, (options: never) => unknown, object, string]>([
    ['headers', (options) => providers.openai('m', options), { headers: 'x-a: b' }, 'got the text "x-a: b"'],
    ['transport', (options) => providers.anthropic('m', options), { transport: {} }, 'function "send"'],
    ['stream', (options) => providers.gemini('m', options), { stream: 'no' }, 'true or false'],
    ['promptCache', (options) => providers.anthropic('m', options), { promptCache: 'off' }, 'true or false'],
    ['explain', (options) => createAgent(options), { model, explain: 'no' }, '"auto", "always" or "never"'],
    ['loop', (policy) => createAgent({ model, policy }), { loop: 3 }, 'an object'],
  ])('names %s', (...[name, make, options, says]) => {
    expect(() => make(options as never)).toThrow(new RegExp(`"${name}" of .* must be .*${says}`)); // As above.
  });
});
