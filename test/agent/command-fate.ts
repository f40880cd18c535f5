import type { Json } from '../../src/base/json.ts';
import { createAgent, tool } from '../../src/index.ts';
import type { PermissionRule } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { anyInput } from '../golden/world.ts';

/** What becomes of a command: it ran, a person is asked, or the model is told that it may not. */
export async function fate(
  command: string,
  permissions: readonly PermissionRule[],
  others: Readonly<Record<string, Json>> = {},
): Promise<string> {
  let hasRun = false;
  const shell = tool({
    name: 'shell',
    description: 'Runs.',
    input: anyInput,
    permission: 'ask',
    execute: () => {
      hasRun = true;
      return 'ran';
    },
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'shell', arguments: { command, ...others } }] },
    'Done.',
  ]);
  const outcome = await createAgent({ model, tools: [shell], policy: { permissions } }).run('Go on');
  if (hasRun) return 'allow';
  return outcome.type === 'suspended' ? 'ask' : 'deny';
}

export const allow = (...runs: readonly string[]): PermissionRule => ({
  tool: 'shell',
  input: { command: { runs } },
  permission: 'allow',
});
export const deny = (...runs: readonly string[]): PermissionRule => ({
  tool: 'shell',
  input: { command: { runs } },
  permission: 'deny',
});

export const everything: PermissionRule = { tool: 'shell', permission: 'allow' };
