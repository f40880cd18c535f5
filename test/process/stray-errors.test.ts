import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChaosServer } from '../../src/chaos/index.ts';
import { buildCommandLine } from '../cli/command-line.ts';
import { bundleProgram } from '../kill/program.ts';

// Every place where code of a user is called, and every way to misbehave there, each in a process of its own.

const thrown = ['throws', 'rejects', 'rejects-later', 'thenable-throws'];
const stray = ['floats', 'floats-later', 'timer-throws', 'emits-error', 'tick-throws'];
const places = [
  'execute',
  'resource',
  'classifyError',
  'observer',
  'observer-event',
  'callback-onEvent',
  'run-onEvent',
  'onDebug',
  'onApproval',
  'setup',
  'when',
  'input',
];
/** Code that is called in the same ways as that above: one way of each kind is enough. */
const furtherPlaces = [
  'guardrail',
  'transformer',
  'input-schema',
  'output-schema',
  'toJSON',
  'on-abort',
  'model',
  'fetch',
  'callModel',
  'worker',
  'worker-onEvent',
];
const furtherWays = ['throws', 'rejects-later', 'floats', 'timer-throws'];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let program: Awaited<ReturnType<typeof bundleProgram>>;

beforeAll(async () => {
  program = await bundleProgram('test/process/misbehave-program.ts');
});
afterAll(() => program.remove());

function start(...words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program.file, ...words], { timeout: 20_000 }, (error, stdout, stderr) => {
      const failed = typeof error?.code === 'number' ? error.code : -1;
      resolve({ code: error === null ? 0 : failed, stdout, stderr });
    });
  });
}

describe('code of a user that misbehaves', () => {
  const rows = [
    ...places.map((place) => ({ place, ways: [...thrown, ...stray] })),
    ...furtherPlaces.map((place) => ({ place, ways: furtherWays })),
  ];
  it.each(rows)('in $place never ends the process', async ({ place, ways }) => {
    const check = async (way: string): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await start(place, way);
      const isNamed = thrown.includes(way) || /threw an error that nothing caught/.test(stdout + stderr);
      return code === 0 && isNamed ? [] : [`${way}: ${code} ${stdout} ${stderr}`];
    };
    const problems = (await Promise.all(ways.map(check))).flat();
    expect(problems).toEqual([]);
  });

  it.each(stray)('in a tool that %s is reported with the tool and the call', async (way) => {
    const { code, stdout } = await start('execute', way);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'completed',
      told: [
        {
          type: 'tool-warning',
          warning: 'stray-error',
          name: 'refresh',
          callId: expect.stringMatching(/./) as string,
          failure: { code: 'TOOL_EXECUTION_ERROR', causes: [{ message: 'cache is down' }] },
        },
      ],
    });
  });

  it('ends the process where the policy says so, and the error names the tool', async () => {
    const { code, stderr } = await start('execute', 'floats', 'end-process');
    expect(code).toBe(1);
    expect(stderr).toContain('ToolError: Tool "refresh" threw an error that nothing caught');
    expect(stderr).toContain('cache is down');
  });

  it("leaves a rejection of the program's own to Node", async () => {
    const { code, stderr, stdout } = await start('elsewhere', '');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Error: not of a tool');
    expect(stderr).not.toContain('left an error');
  });
});

describe('a tool of the command line', () => {
  it('that leaves a rejection behind is named, and the run completes', async () => {
    const line = await buildCommandLine();
    const call = { toolCalls: [{ name: 'refresh', arguments: {} }] };
    const server = await startChaosServer({ model: { script: [call, 'All is done.', 'All is done.'] } });
    await writeFile(path.join(line.folder, 'probe.mjs'), refreshTool);
    try {
      const args = ['run', 'Go.', '--config', 'probe.mjs', '--model', 'openai:gpt-5.4'];
      const env = {
        OPENAI_API_KEY: 'test-key',
        OPENAI_BASE_URL: `${server.url}/v1`,
        HOME: path.join(line.folder, 'home'),
      };
      const { exitCode, out, err } = await line.run(args, { env });
      expect({ exitCode, out }).toEqual({
        exitCode: 0,
        out: expect.stringContaining('All is done.') as string,
      });
      expect(err).toContain('Tool "refresh" threw an error that nothing caught');
      expect(err).not.toMatch(/defect|INTERNAL|your message/);
    } finally {
      await server.close();
      await line.remove();
    }
  });
});

describe('a configuration of the command line', () => {
  it.each([
    {
      what: 'leaves a rejection behind is named, and the command completes',
      files: { 'probe.mjs': "void Promise.reject(new Error('cache is down'));\nexport default {};" },
      says: /RerailWarning: The configuration probe.mjs threw an error that nothing caught: .*cache is down/,
      ends: 0,
    },
    {
      what: 'imports a package that throws is reported once',
      files: {
        'probe.mjs': "import 'broken';\nexport default {};",
        'node_modules/broken/package.json': '{"main":"index.js"}',
        'node_modules/broken/index.js': "throw new Error('cache is down');",
      },
      says: /^rerail: probe.mjs: threw while it was loaded: Error: cache is down\. .*\n$/,
      ends: 2,
    },
  ])('that $what', async ({ files, says, ends }) => {
    const line = await buildCommandLine();
    try {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(path.dirname(path.join(line.folder, name)), { recursive: true });
        await writeFile(path.join(line.folder, name), text);
      }
      const env = { HOME: path.join(line.folder, 'home'), NODE_NO_WARNINGS: '', NODE_OPTIONS: '' };
      const { exitCode, err } = await line.run(['config', '--config', 'probe.mjs'], { env });
      expect({ exitCode, err }).toEqual({ exitCode: ends, err: expect.stringMatching(says) as string });
      expect(err).not.toMatch(/defect|INTERNAL/);
    } finally {
      await line.remove();
    }
  });
});

const refreshTool = `import { tool } from 'rerail';
const refresh = tool({
  name: 'refresh',
  description: 'For tests.',
  input: { type: 'object', properties: {} },
  effect: 'read',
  permission: 'allow',
  execute: async () => {
    void Promise.reject(new Error('cache is down'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return 'ok';
  },
});
export default { tools: [refresh] };
`;

describe('a tool that changes the process', () => {
  it.each([
    ['changes the working directory', /the working directory from ".*" to "\/"/],
    ['changes the environment', /the environment \(RERAIL_PROBE\)/],
    ['changes the umask', /the umask from \d+ to 0077/],
  ])('that %s is named, without a value of the environment', async (way, change) => {
    const { code, stdout } = await start('execute', way);
    expect(code).toBe(0);
    const { told } = JSON.parse(stdout) as { readonly told: readonly object[] };
    const message = expect.stringMatching(change) as string;
    expect(told).toMatchObject([
      { type: 'tool-warning', warning: 'process-changed', name: 'refresh', failure: { message } },
    ]);
    expect(stdout).not.toContain('secret-value');
  });
});

describe('an observer that hangs', () => {
  it.each(['observer', 'observer-event', 'onDebug'])(
    '(%s) holds the process for at most a second',
    async (place) => {
      const { code, stderr } = await start(place, 'hangs');
      expect(code).toBe(0);
      expect(Number(/held for (\d+) ms/.exec(stderr)?.[1])).toBeLessThan(1200);
    },
  );
});
