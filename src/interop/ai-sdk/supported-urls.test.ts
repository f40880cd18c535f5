import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../../test/ai-sdk/scripted-model.ts';
import { resilient } from './resilient.ts';

const web = /^https?:\/\/.+$/;

describe('the supportedUrls of a resilient model', () => {
  it('leave out what one of the models cannot fetch', async () => {
    const first = scriptedModel([], {
      supportedUrls: { 'image/*': [web, /^gs:/], 'application/pdf': [web] },
    });
    const second = scriptedModel([], {
      supportedUrls: Promise.resolve({ 'image/*': [/^https?:\/\/.+$/] }),
    });
    const third = scriptedModel([], { supportedUrls: { 'image/*': [web] } });
    expect(await resilient([first, second, third]).supportedUrls).toEqual({ 'image/*': [web] });
    expect(await resilient([first, scriptedModel([])]).supportedUrls).toEqual({});
  });

  it('are those of the model where there is one', () => {
    const supportedUrls = { 'image/*': [web] };
    expect(resilient(scriptedModel([], { supportedUrls })).supportedUrls).toBe(supportedUrls);
  });
});
