import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redact } from '../../src/base/redact.ts';
import { anthropic } from '../../src/providers/anthropic/anthropic.ts';
import { openai } from '../../src/providers/openai/openai.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible/openai-compatible.ts';
import { createAgent } from '../../src/index.ts';
import { callModel } from '../../src/runtime/model-call/call-model.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { plainTool } from '../agent/scene.ts';

// A service with a key for each tenant, behind a provider that repeats the key it refuses.

let server: Server;
let baseURL: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const key = request.headers.authorization ?? request.headers['x-api-key'];
    request.resume();
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ error: { message: `${String(key).replace(/^Bearer /, '')} is not known here.` } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

afterAll(() => server.close());

const makers = [
  (apiKey: string) => openai('gpt-5.4', { apiKey, baseURL }),
  (apiKey: string) => anthropic('claude-sonnet-5', { apiKey, baseURL }),
  (apiKey: string) => openaiCompatible({ name: 'own', baseURL })('any', { apiKey }),
];

describe('a key for each of many tenants (F5)', { timeout: 60_000 }, () => {
  it('is in no failure, however many there are', async () => {
    const keys = Array.from({ length: 600 }, (_, index) => `tenant${index}Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3`);
    const models = keys.map((key, index) => makers[index % makers.length]?.(key));
    const shown = await Promise.all(
      models.map(async (model) => {
        if (model === undefined) throw new Error('There is a maker for each');
        const request = { messages: [{ role: 'user' as const, content: 'hi' }] };
        return JSON.stringify(await callModel(model, request, { policy: { retry: 'none' } }));
      }),
    );
    expect(shown.filter((text) => /tenant\d/.test(text))).toEqual([]);
    expect(shown[599]).toContain('is not known here');
  });

  it('is forgotten, the oldest first and with a warning, only where no model uses it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const warnings: string[] = [];
    const hear = (warning: Error & { readonly code?: string }): void =>
      void warnings.push(warning.code ?? '');
    process.on('warning', hear);
    const held = openai('gpt-5.4', { apiKey: 'heldZq7Lm2Xw9Rt4Vb6Kc1Np8Hs3' });
    const use = (from: number, to: number): void => {
      for (let index = from; index < to; index += 1)
        openai('gpt-5.4', { apiKey: `gone${index}Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3` });
    };
    const settle = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        collect();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    use(0, 100);
    await settle();
    expect(redact('gone7Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3')).toBe('[redacted]');
    use(100, 11_000);
    await expect
      .poll(
        async () => {
          await settle();
          return redact('gone7Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3');
        },
        { timeout: 30_000 },
      )
      .toContain('gone7');
    expect(redact('heldZq7Lm2Xw9Rt4Vb6Kc1Np8Hs3')).toBe('[redacted]');
    const hidden = Array.from({ length: 11_000 }, (_, index) =>
      redact(`gone${index}Zq7Lm2Xw9Rt4Vb6Kc1Np8Hs3`),
    );
    expect(hidden.filter((text) => text === '[redacted]').length).toBeGreaterThanOrEqual(10_000);
    expect(held.provider).toBe('openai');
    process.off('warning', hear);
    expect(warnings.filter((code) => code === 'RERAIL_SECRETS_FORGOTTEN')).toHaveLength(1);
  });
});

describe('keys in the environment of providers that are not asked', () => {
  it('are hidden in what a tool throws, for a model that was made with that environment', async () => {
    const environment = {
      OPENAI_API_KEY: 'envOpenaiZq7Lm2Xw9Rt4Vb6Kc1Np8Hs3',
      ANTHROPIC_API_KEY: 'envAnthropicZq7Lm2Xw9Rt4Vb6Kc1Np8',
      DEMO_SERVICE_API_TOKEN: 'envServiceZq7Lm2Xw9Rt4Vb6Kc1Np8Hs',
      AWS_SECRET_ACCESS_KEY: 'envAwsZq7Lm2Xw9Rt4Vb6Kc1Np8Hs3Qq',
    };
    openai('gpt-5.4', { environment, baseURL: 'https://api.openai.com/v1' });
    const leak = plainTool({
      name: 'leak',
      execute: () => {
        throw new Error(`The environment is ${Object.values(environment).join(' ')}.`);
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'leak', arguments: {} }] }, 'Done.']);
    const events: unknown[] = [];
    const agent = createAgent({ name: 'leaky', model, tools: [leak] });
    const outcome = await agent.run('Go.', { onEvent: (event) => void events.push(event) });
    const shown = JSON.stringify([outcome, events, model.calls.map(({ request }) => request)]);
    expect(shown).toContain('The environment is');
    expect(shown).not.toMatch(/env(?:Openai|Anthropic|Service|Aws)/);
  });
});
