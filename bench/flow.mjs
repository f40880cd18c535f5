// What a node of a flow and a job of a team cost beside a bare run of the same agent: npm run bench:flow. All in one process and taking
// turns, on a model that answers at once, without a store. With --check it fails where a bound does not hold.
import { createAgent } from 'rerail';
import { flow, team } from 'rerail/flow';
import { scriptedModel } from 'rerail/testing';

const isQuick = process.argv.includes('--quick');
const samples = isQuick ? 5 : 20;
// Long enough that each sample pays for the garbage that it makes: in short ones the collector runs in whichever happens to be long.
const rounds = isQuick ? 5 : 10;
const nodes = 100;
const jobs = 50;
/** @type {string[]} */
const broken = [];

const names = Array.from({ length: nodes }, (_, index) => `n${index}`);
const agents = Object.fromEntries(names.map((name) => [name, worker(name)]));
const line = flow(names.join(' >> '), { agents, name: 'line' });
const fan = flow(names.join(' | '), { agents, name: 'fan' });
const half = flow(names.slice(0, nodes / 2).join(' >> '), {
  agents: Object.fromEntries(names.slice(0, nodes / 2).map((name) => [name, worker(name)])),
  name: 'half',
});
const desk = team({ lead: lead(), agents: { member: worker('member') } });

/** @type {Record<"alone" | "line" | "half" | "fan" | "desk", number[]>} */
const times = { alone: [], line: [], half: [], fan: [], desk: [] };
// As in a process that has been up for some minutes: whoever has more code takes longer to be compiled.
const warmUp = isQuick ? 4 : 20;
for (let sample = -warmUp; sample < samples; sample += 1) {
  if (sample === 0) for (const list of Object.values(times)) list.length = 0;
  times.alone.push(await cpu(async () => everyone((agent) => agent.run('Do it'))));
  times.line.push(await cpu(() => line.run('Do it')));
  times.half.push(await cpu(() => half.run('Do it')));
  times.fan.push(await cpu(() => fan.run('Do it')));
  times.desk.push(await cpu(() => desk.run('Do it')));
}

// All of it, and not a sample in the middle: so each pays for all its garbage, and what others do on the machine falls on all alike.
const bare = mean(times.alone) / nodes;
console.log(
  `A bare run of one of the ${nodes} agents: ${microseconds(bare)} of CPU (${samples} times ${rounds * nodes} runs, by turns with the others)`,
);
report(`a node of ${nodes} one after the other`, mean(times.line) / nodes);
report(`a node of ${nodes / 2} one after the other`, mean(times.half) / (nodes / 2));
report(`a node of ${nodes} side by side`, mean(times.fan) / nodes);
report(`a job of ${jobs} of a team`, mean(times.desk) / jobs);
await memory();

if (broken.length > 0)
  console.log(`\nNot held here and now:\n${broken.map((text) => `- ${text}`).join('\n')}`);
if (process.argv.includes('--check') && broken.length > 0) process.exitCode = 1;

/**
 * A scripted model keeps all requests for whoever tests with it, and what they hold of their runs: no model of a provider does.
 * @param {(request: import('rerail').ModelRequest) => import('rerail/testing').ScriptEntry} script
 */
function forgetful(script) {
  const model = scriptedModel(script);
  const calls = /** @type {unknown[]} */ (model.calls);
  return {
    ...model,
    call: /** @type {typeof model.call} */ (
      (request, options) => {
        const events = model.call(request, options);
        calls.length = 0;
        return events;
      }
    ),
  };
}

/** @param {string} name */
function worker(name) {
  return createAgent({ name, model: forgetful(() => `${name} is done.`), limits: { maxTurns: 5 } });
}

function lead() {
  const model = forgetful(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? { toolCalls: Array.from({ length: jobs }, () => ({ name: 'member', arguments: { task: 'Do it' } })) }
      : 'All is done.',
  );
  return createAgent({ name: 'lead', model, limits: { maxConcurrentTools: 8 } });
}

/**
 * The same agents as in the flow, one after the other, by themselves.
 * @param {(agent: import('rerail').Agent) => Promise<unknown>} work
 */
async function everyone(work) {
  for (const agent of Object.values(agents)) await work(agent);
}

/**
 * CPU time of one round, in microseconds.
 * @param {() => Promise<unknown>} work
 */
async function cpu(work) {
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const outcome = await work();
    const type = /** @type {{ type?: string } | undefined} */ (outcome)?.type;
    if (type !== undefined && type !== 'completed') throw new Error(`A run ended ${type}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / rounds;
}

/** @param {readonly number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {number} value */
function microseconds(value) {
  return `${Math.round(value)} µs`;
}

/**
 * @param {string} what
 * @param {number} each
 */
function report(what, each) {
  const ratio = each / bare;
  console.log(
    `${what}: ${microseconds(each)} with the agent's own run, ${ratio.toFixed(2)} bare runs in all (bound 2)`,
  );
  if (!(ratio <= 2)) broken.push(`${what}: ${ratio.toFixed(2)} bare runs, bound 2`);
}

/** What stays in memory of runs, per node: the same for short flows and for long ones. */
async function memory() {
  if (globalThis.gc === undefined) return console.log('Memory: run with node --expose-gc to see it');
  const [short, long] = [await kept(half, nodes / 2), await kept(line, nodes)];
  const ratio = long / short;
  console.log(
    `memory kept a node: ${Math.round(short)} B of runs of ${nodes / 2} nodes, ${Math.round(long)} B of runs of ${nodes}: ${ratio.toFixed(2)}`,
  );
  if (!(ratio <= 1.3))
    broken.push(`memory a node at ${nodes} nodes: ${ratio.toFixed(2)} of that at ${nodes / 2}, bound 1.3`);
}

/**
 * Bytes a node, with the outcomes. Each flow does as many nodes in all: what the scripted models keep of their calls is the same.
 * @param {import('rerail/flow').Flow} what
 * @param {number} size
 */
async function kept(what, size) {
  const runs = 10_000 / size;
  for (let time = 0; time < 3; time += 1) globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  /** @type {unknown[]} */
  const outcomes = [];
  for (let run = 0; run < runs; run += 1) outcomes.push(await what.run('Do it'));
  for (let time = 0; time < 3; time += 1) globalThis.gc?.();
  const used = process.memoryUsage().heapUsed - before;
  if (outcomes.length !== runs) throw new Error('A run is missing');
  return used / runs / size;
}
