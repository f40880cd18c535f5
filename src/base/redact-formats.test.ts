import { describe, expect, it } from 'vitest';
import { redactFormats } from './redact-formats.ts';

const key = 'Zk3vQ9xLw7Rt2YbN8mPc4HsD6fGj1KaE5uTi0oXq';

describe('redactFormats() names the issuer of', () => {
  const hex = '0123456789abcdef0123456789abcdef';
  const cases: readonly (readonly [secret: string, kind: string])[] = [
    [`sk-ant-api03-${key}`, 'anthropic key'],
    [`sk-or-v1-${hex}${hex}`, 'openrouter key'],
    ['sk-or-v1-abcd1', 'openrouter key'],
    [`sk-proj-${key}`, 'openai key'],
    [`sk-svcacct-${key}`, 'openai key'],
    [`sk-admin-${key}`, 'openai key'],
    [`sk-${key}`, 'api key'],
    [`sk-${hex}`, 'api key'],
    ['sk-Ab3_x-Yz9-Qr5-Tu7w1Vk2', 'api key'],
    [`AIza${key.slice(0, 35)}`, 'google key'],
    [`ya29.${key}`, 'google token'],
    [`1//0${key}`, 'google token'],
    [`GOCSPX-${key}`, 'google secret'],
    ['AKIAIOSFODNN7EXAMPLE', 'aws key'],
    ['ASIAIOSFODNN7EXAMPLE', 'aws key'],
    ...['ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_', 'github_pat_'].map(
      (prefix) => [`${prefix}${key}`, 'github token'] as const,
    ),
    [`glpat-${key.slice(0, 20)}`, 'gitlab token'],
    [`hf_${key.slice(0, 34)}`, 'hugging face token'],
    [`gsk_${key}`, 'groq key'],
    [`xai-${key}`, 'xai key'],
    [`pplx-${key}`, 'perplexity key'],
    [`r8_${key}`, 'replicate token'],
    [`fw_${key.slice(0, 22)}`, 'fireworks key'],
    [`csk-${key}`, 'cerebras key'],
    [`nvapi-${key}`, 'nvidia key'],
    [`tgp_v1_${key}`, 'together key'],
    [`tvly-dev-${key}`, 'tavily key'],
    [`pcsk_${key}`, 'pinecone key'],
    [`lsv2_pt_${hex}_0123456789`, 'langsmith key'],
    [`e2b_${hex}`, 'sandbox key'],
    [`xoxb-123456789012-${key}`, 'slack token'],
    [`xoxe.xoxp-1-${key}`, 'slack token'],
    [`xapp-1-A0-${key}`, 'slack token'],
    [`sk_live_${key}`, 'stripe key'],
    [`rk_live_${key}`, 'stripe key'],
    [`whsec_${key}`, 'webhook secret'],
    [`npm_${key.slice(0, 36)}`, 'npm token'],
    [`SG.${key.slice(0, 22)}.${key}`, 'sendgrid key'],
    [`dapi${hex}-2`, 'databricks token'],
    [`dop_v1_${hex}${hex}`, 'digitalocean token'],
    [`123456789:AA${key.slice(0, 33)}`, 'bot token'],
    [`${hex}.${key.slice(0, 16)}`, 'zhipu key'],
    [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.${key}`, 'json web token'],
  ];

  it.each(cases)('%s', (secret, kind) => {
    expect(redactFormats(`call with ${secret} failed`)).toBe(`call with [redacted ${kind}] failed`);
  });
});
