import { describe, expect, it } from 'vitest';
import { createConfigWorld } from '../../../test/cli/config-world.ts';
import { runTrust } from './trust-command.ts';

describe('rerail trust, where no person can be asked', () => {
  it.each([
    { args: [], typed: 'npx rerail trust --yes' },
    { args: ['a shop'], typed: "npx rerail trust 'a shop' --yes" },
  ])('says the whole command to type: $typed', async ({ args, typed }) => {
    const world = createConfigWorld({ command: 'npx rerail' });
    for (const file of ['rerail.config.json', 'a shop/rerail.config.json']) world.write(file, '{}');
    expect(await world.run(runTrust, {}, args)).toBe(22);
    expect(world.out()).toContain(`To trust it, type: ${typed}\n`);
  });

  it('says the whole command where there is no such folder', async () => {
    const world = createConfigWorld({ command: 'npx rerail' });
    await expect(world.run(runTrust, {}, ['none'])).rejects.toMatchObject({
      failure: { hint: 'Type: npx rerail trust <folder>' },
    });
  });
});
