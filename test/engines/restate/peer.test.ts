import { expect, it } from 'vitest';
import { loadSdk } from '../../../src/engines/restate/sdk.ts';
import { startLife } from '../../kill/life.ts';
import { bundleProgram } from '../../kill/program.ts';

it('a process without the SDK can make the agent, and is told what to install when it needs the engine', async () => {
  const program = await bundleProgram('test/engines/restate/peer-program.ts');
  try {
    const life = startLife(program.file, {});
    expect(await life.ended).toMatchObject({ exitCode: 0, err: '' });
    expect(life.said).toEqual([
      { kind: 'made' },
      {
        kind: 'refused',
        code: 'CONFIG_ERROR',
        message: expect.stringMatching(
          /"@restatedev\/restate-sdk" is not installed: npm install @restatedev\/restate-sdk/,
        ) as unknown,
      },
    ]);
  } finally {
    await program.remove();
  }
});

it('an SDK that lacks something is refused by what it lacks', () => {
  expect(() => loadSdk({ service: () => undefined })).toThrow(
    /it has no object, handlers, .*Install 1\.12\.0/,
  ) as unknown;
});
