import { expect, it } from 'vitest';
import { startLife } from '../../kill/life.ts';
import { bundleProgram } from '../../kill/program.ts';

it('a process without the SDK can make the agent, and is told what to install when it needs the engine', async () => {
  const program = await bundleProgram('test/engines/temporal/peer-program.ts');
  try {
    const life = startLife(program.file, {});
    expect(await life.ended).toMatchObject({ exitCode: 0, err: '' });
    expect(life.said).toEqual([
      { kind: 'made' },
      {
        kind: 'refused',
        code: 'CONFIG_ERROR',
        message: expect.stringMatching(
          /"@temporalio\/worker" is not installed: npm install @temporalio\/worker@1/,
        ) as string,
      },
    ]);
  } finally {
    await program.remove();
  }
});
