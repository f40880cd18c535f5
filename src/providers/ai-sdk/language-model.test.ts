import { describe, expect, it } from 'vitest';
import { fakeModel } from '../../../test/ai-sdk/fake-model.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { checkLanguageModel, familyOf } from './language-model.ts';

function refusalOf(model: unknown): RerailError['failure'] {
  try {
    checkLanguageModel(model);
  } catch (error) {
    if (RerailError.isInstance(error)) return error.failure;
    throw error;
  }
  throw new Error('It was taken');
}

describe('checkLanguageModel()', () => {
  it.each([
    ['a specification that is too old', fakeModel({ version: 'v1' }), 'PROVIDER_NOT_SUPPORTED', /"v1"/],
    ['a specification of the future', fakeModel({ version: 'v9' }), 'PROVIDER_NOT_SUPPORTED', /"v9"/],
    ['no specification', { ...fakeModel(), specificationVersion: 4 }, 'PROVIDER_NOT_SUPPORTED', /none/],
    ['the id of a gateway', 'openai/gpt-5.2', 'PROVIDER_NOT_SUPPORTED', /openai\/gpt-5\.2/],
    ['nothing', undefined, 'CONFIG_ERROR', /undefined/],
    ['null', null, 'CONFIG_ERROR', /null/],
    ['a provider instead of its model', () => fakeModel(), 'CONFIG_ERROR', /function/],
    ['an object without methods', { specificationVersion: 'v3' }, 'CONFIG_ERROR', /doStream/],
    ['a list', [], 'CONFIG_ERROR', /object/],
  ])('refuses %s and says what to do', (...[, model, code, message]) => {
    const failure = refusalOf(model);
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    expect(failure.hint).toBeTruthy();
  });

  it.each(['v2', 'v3', 'v4'] as const)('takes a model of specification %s', (version) => {
    const model = checkLanguageModel(fakeModel({ version, provider: 'openai.responses' }));
    expect(model).toMatchObject({ version, provider: 'openai.responses', modelId: 'fake-1' });
    expect(familyOf(model)).toBe('openai');
  });

  it('calls methods of a class on the model itself, and reads getters of its prototype', async () => {
    const prototype = {
      get provider(): string {
        return 'mine.chat';
      },
      doStream(this: { readonly modelId: string }): Promise<string> {
        return Promise.resolve(this.modelId);
      },
      doGenerate: (): Promise<undefined> => Promise.resolve(undefined),
    };
    const own = { specificationVersion: 'v2', modelId: 'm' };
    const model = checkLanguageModel(Object.setPrototypeOf(own, prototype));
    expect(model.provider).toBe('mine.chat');
    await expect(model.doStream({})).resolves.toBe('m');
  });

  it('turns a method that throws at once into a rejection', async () => {
    const model = checkLanguageModel({
      ...fakeModel(),
      doStream: () => {
        throw new Error('at once');
      },
    });
    await expect(model.doStream({})).rejects.toThrow('at once');
  });
});
