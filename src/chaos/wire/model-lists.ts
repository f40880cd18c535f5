import type { Family } from '../route.ts';

const created = 1_760_000_000;
const createdAt = '2025-10-09T08:53:20Z';

/** The models that this server says it has; it answers under any other name too. */
const chaosModels = ['chaos-large', 'chaos-small'] as const;

/** The list of models, or one of them, in the shape of whoever was asked. */
export function modelsBody(family: Family, model: string): unknown {
  const names: readonly string[] = model === '' ? chaosModels : [model.replace(/^models\//, '')];
  const rows = names.map((name) => modelRows[family](name));
  return model === '' ? wrap[family](rows) : rows[0];
}

const modelRows = {
  openai: (id) => ({ id, object: 'model', created, owned_by: 'rerail' }),
  anthropic: (id) => ({ type: 'model', id, display_name: id, created_at: createdAt }),
  gemini: (id) => ({
    name: `models/${id}`,
    version: '001',
    displayName: id,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens', 'embedContent'],
  }),
  ollama: (name) => ({ name, model: name, modified_at: createdAt, size: 1, digest: 'chaos', details: {} }),
} as const satisfies Record<Family, (id: string) => object>;

const wrap = {
  openai: (data) => ({ object: 'list', data }),
  anthropic: (data) => ({
    data,
    has_more: false,
    first_id: chaosModels[0],
    last_id: chaosModels.at(-1),
  }),
  gemini: (models) => ({ models }),
  ollama: (models) => ({ models }),
} as const satisfies Record<Family, (rows: readonly object[]) => object>;
