import { describe, expect, it } from 'vitest';
import { createConfigWorld } from '../../../test/cli/config-world.ts';
import { createFailure } from '../../errors/failure.ts';
import type { FailureDetails } from '../../errors/failure.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { withAddress } from './addressed-model.ts';
import { environmentAddress } from './provider-address.ts';
import type { Settings } from './settings.ts';

const keys = { OPENAI_API_KEY: 'one', ANTHROPIC_API_KEY: 'two' };
const gateway = 'https://gateway.example/v1';

const addressOf = ({ origins }: Settings): readonly string[] =>
  origins
    .filter(({ path }) => path.startsWith('baseURL'))
    .map(({ path, value, from }) => `${path} ${value} ${from}`);

describe('a key does not go to an address that was meant for another', () => {
  it('not of an untrusted file', async () => {
    const world = createConfigWorld({ env: { OPENAI_API_KEY: 'one' } });
    world.write('rerail.config.json', `{ "model": "openai:gpt-5.4", "baseURL": "${gateway}" }`);
    const settings = await world.load();
    expect(addressOf(settings)).toEqual(["baseURL the provider's own default"]);
    expect(settings.models[0]?.address).toBeUndefined();
    expect(settings.notices[0]).toContain('who is sent your keys');
    await world.trust();
    expect(addressOf(await world.load())).toEqual([`baseURL ${gateway} rerail.config.json:1`]);
  });

  it('not of an .env, not even a trusted one, because its values are never shown', async () => {
    const world = createConfigWorld();
    world.write('.env', `OPENAI_API_KEY=one\nOPENAI_BASE_URL=${gateway}\nRERAIL_BASE_URL=${gateway}\n`);
    await world.trust();
    const settings = await world.load();
    expect(settings.models[0]?.name).toBe('openai:gpt-5.4');
    expect(addressOf(settings)).toEqual(["baseURL the provider's own default"]);
    expect(settings.notices).toEqual([
      expect.stringContaining('OPENAI_BASE_URL in .env was not read'),
      expect.stringContaining('RERAIL_BASE_URL in .env was not read'),
    ]);
  });

  it('not of a file that names a model of another provider beside it', async () => {
    const world = createConfigWorld({ env: keys });
    world.write('rerail.config.json', `{ "model": "openai:gpt-5.4", "baseURL": "${gateway}" }`);
    await world.trust();
    const settings = await world.load({ model: 'anthropic:claude-sonnet-5' });
    expect(addressOf(settings)).toEqual(["baseURL the provider's own default"]);
    expect(settings.notices).toEqual([
      'baseURL in rerail.config.json:1 was not used: it is set beside a model of openai, and anthropic:claude-sonnet-5 was chosen. Type --base-url <url> to set one',
    ]);
    expect(addressOf(await world.load({ model: 'openai:gpt-5.5' }))).toEqual([
      `baseURL ${gateway} rerail.config.json:1`,
    ]);
  });

  it('not that of a fallback of another provider', async () => {
    const world = createConfigWorld({ env: keys });
    const model = ['openai:gpt-5.4', 'anthropic:claude-sonnet-5', 'openai:gpt-5.5'];
    const { models } = await world.load({ model, baseURL: gateway });
    expect(models.map(({ address }) => address?.url)).toEqual([gateway, undefined, gateway]);
  });

  it('not where it is not said whose it is', async () => {
    const world = createConfigWorld({ env: keys });
    const { code, message } = await world.refusal({ baseURL: gateway });
    expect(code).toBe('CONFIG_ERROR');
    expect(message).toContain('no model is named, and ANTHROPIC_API_KEY and OPENAI_API_KEY are set');
  });

  it('not after /model has put another name in place of what was typed', () => {
    expect(settingFlagsOf({ flags: { model: ['openai:gpt-5.4'], baseUrl: gateway } }).baseURL).toBe(gateway);
    expect(settingFlagsOf({ flags: { baseUrl: gateway } }).baseURL).toBe(gateway);
    expect(settingFlagsOf({ flags: { model: 'anthropic:a', baseUrl: gateway } }).baseURL).toBeUndefined();
  });

  it('and the embedded model has none', async () => {
    const { notices, models } = await createConfigWorld().load({ model: 'simulated', baseURL: gateway });
    expect(models[0]?.address).toBeUndefined();
    expect(notices).toEqual(['--base-url was not used: the embedded model has no address']);
  });
});

describe('a wrong address is refused with its place', () => {
  it.each([
    { value: '"gateway.example/v1"', says: 'write it as in "https://gateway.example/v1"' },
    { value: '"https://gateway.example/v1/v1"', says: 'write "https://gateway.example/v1"' },
    { value: '7', says: 'must be a text such as "https://host/v1", got number' },
    { value: '"ws://gateway.example"', says: 'begins with "ws://"' },
    { value: `"https://gateway.example/sk-ant-api03-${'a'.repeat(95)}/v1"`, says: 'looks like a secret' },
  ])('$value', async ({ value, says }) => {
    const world = createConfigWorld({ env: keys });
    world.write('rerail.config.json', `{\n  "model": "openai:gpt-5.4",\n  "baseURL": ${value}\n}`);
    await world.trust();
    const { problems } = await world.refusal();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('rerail.config.json:3: baseURL');
    expect(problems[0]).toContain(says);
  });

  it('of the environment too', async () => {
    const world = createConfigWorld({ env: { OPENAI_API_KEY: 'one', OPENAI_BASE_URL: 'gateway.example' } });
    expect((await world.refusal()).message).toBe(
      'OPENAI_BASE_URL of openai has no "https://" or "http://" in front: write it as in "https://gateway.example"',
    );
  });
});

describe('which address counts', () => {
  it('a flag before RERAIL_BASE_URL before a file before the variable of the provider', async () => {
    const env = { OPENAI_API_KEY: 'one', OPENAI_BASE_URL: 'https://d.example/v1' };
    const world = createConfigWorld({ env });
    expect(addressOf(await world.load())).toEqual([
      'baseURL https://d.example/v1 environment OPENAI_BASE_URL',
    ]);
    world.write('rerail.config.json', '{ "baseURL": "https://c.example/v1" }');
    await world.trust();
    expect(addressOf(await world.load())).toEqual(['baseURL https://c.example/v1 rerail.config.json:1']);
    Object.assign(env, { RERAIL_BASE_URL: 'https://b.example/v1' });
    expect(addressOf(await world.load())).toEqual([
      'baseURL https://b.example/v1 environment RERAIL_BASE_URL',
    ]);
    expect(addressOf(await world.load({ baseURL: 'https://a.example/v1' }))).toEqual([
      'baseURL https://a.example/v1 flag --base-url',
    ]);
  });

  it('each provider of a chain has its own variable', async () => {
    const world = createConfigWorld({ env: { ...keys, ANTHROPIC_BASE_URL: 'https://a.example' } });
    const settings = await world.load({ model: 'openai:gpt-5.4,anthropic:claude-sonnet-5' });
    expect(addressOf(settings)).toEqual([
      "baseURL the provider's own default",
      'baseURL.anthropic https://a.example/v1 environment ANTHROPIC_BASE_URL',
    ]);
    expect(settings.modelLine).toContain(
      '(and anthropic:claude-sonnet-5 at https://a.example/v1 (ANTHROPIC_BASE_URL) as fallback)',
    );
  });

  it.each([
    {
      provider: 'openai',
      name: 'OPENAI_BASE_URL',
      text: ' https://a.example/x ',
      url: 'https://a.example/x',
    },
    {
      provider: 'anthropic',
      name: 'ANTHROPIC_BASE_URL',
      text: 'https://a.example/x/',
      url: 'https://a.example/x/v1',
    },
    {
      provider: 'gemini',
      name: 'GOOGLE_GEMINI_BASE_URL',
      text: 'https://a.example',
      url: 'https://a.example/v1beta',
    },
    {
      provider: 'gemini',
      name: 'GOOGLE_GEMINI_BASE_URL',
      text: 'https://a.example/v1',
      url: 'https://a.example/v1',
    },
    {
      provider: 'groq',
      name: 'GROQ_BASE_URL',
      text: 'https://a.example/g',
      url: 'https://a.example/g/openai/v1',
    },
    { provider: 'ollama', name: 'OLLAMA_HOST', text: 'box:80', url: 'box:80' },
    { provider: 'openai', name: 'OPENAI_BASE_URL', text: '  ', url: undefined },
    { provider: 'vllm', name: 'OPENAI_BASE_URL', text: gateway, url: undefined },
  ])('$name of $provider: $text', ({ provider, name, text, url }) => {
    expect(environmentAddress(provider, { [name]: text })?.url).toBe(url);
  });
});

describe('withAddress() says what was asked only where the address may be the reason', () => {
  const details = (given: Partial<FailureDetails>): FailureDetails => ({
    message: 'It failed',
    origin: 'model',
    ...given,
    provider: { provider: 'openai', model: 'gpt-5.4', ...given.provider },
  });
  const rows: readonly {
    readonly what: string;
    readonly code: FailureCode;
    readonly given: Partial<FailureDetails>;
    readonly says: string | undefined;
  }[] = [
    { what: 'a broken answer', code: 'INVALID_RESPONSE', given: { phase: 'body' }, says: undefined },
    { what: 'a lost connection', code: 'NETWORK_ERROR', given: { phase: 'body' }, says: undefined },
    {
      what: 'a busy server',
      code: 'RATE_LIMITED',
      given: { provider: { statusCode: 429 } },
      says: undefined,
    },
    {
      what: 'no connection',
      code: 'NETWORK_ERROR',
      given: { phase: 'connect' },
      says: 'Asked was http://h:1/v1/responses, by',
    },
    {
      what: 'a model',
      code: 'MODEL_NOT_FOUND',
      given: { provider: { statusCode: 404, errorType: 'x' } },
      says: 'Asked was',
    },
    {
      what: 'a path',
      code: 'MODEL_NOT_FOUND',
      given: { provider: { statusCode: 404 } },
      says: 'is not there (status 404)',
    },
    {
      what: 'a method',
      code: 'INVALID_REQUEST',
      given: { provider: { statusCode: 405 } },
      says: 'is not there (status 405)',
    },
  ];

  it.each(rows)('$what', ({ code, given, says }) => {
    const failure = createFailure(code, details(given));
    const shown = withAddress(failure, { asked: 'http://h:1/v1/responses?key=x', from: 'flag --base-url' });
    expect(shown).toMatchObject({ code, message: failure.message });
    expect(shown.hint ?? '').toContain(says ?? '');
    expect(shown.hint === undefined).toBe(says === undefined);
    expect(shown.hint ?? '').not.toContain('key=x');
  });
});
