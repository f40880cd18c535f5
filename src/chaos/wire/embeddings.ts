import { unreachable } from '../../base/assert.ts';
import { isRecord } from '../../base/json.ts';
import { estimateTokens } from '../../providers/simulated/estimate-tokens.ts';
import type { Route } from '../route.ts';
import { randomFor } from '../seeded.ts';
import { fieldsOf, listOf, textField } from './fields.ts';
import type { Fields } from './fields.ts';

const defaultDimensions = 16;
const maxDimensions = 4096;

/** Vectors that only the text decides, in the shape of whoever was asked. */
export function embeddingsBody(route: Extract<Route, { type: 'embeddings' }>, body: unknown): unknown {
  const fields: Fields = isRecord(body) ? body : {};
  switch (route.shape) {
    case 'gemini-one':
      return { embedding: { values: vectorOf(geminiText(fields), fields['outputDimensionality']) } };
    case 'gemini-batch': {
      const embeddings = listOf(fields, 'requests').map((request) => {
        return { values: vectorOf(geminiText(request), request['outputDimensionality']) };
      });
      return { embeddings };
    }
    case 'ollama': {
      const embeddings = textsOf(fields['input']).map((text) => vectorOf(text, fields['dimensions']));
      return {
        model: route.model,
        embeddings,
        total_duration: 1_000_000,
        load_duration: 0,
        prompt_eval_count: 1,
      };
    }
    case 'openai':
      return openaiBody(route.model, fields);
    default:
      return unreachable(route.shape);
  }
}

function openaiBody(model: string, fields: Fields): unknown {
  const texts = textsOf(fields['input']);
  const tokens = texts.reduce((sum, text) => sum + estimateTokens(text.length), 0);
  const isBase64 = fields['encoding_format'] === 'base64';
  return {
    object: 'list',
    data: texts.map((text, index) => {
      const vector = vectorOf(text, fields['dimensions']);
      return { object: 'embedding', index, embedding: isBase64 ? toBase64(vector) : vector };
    }),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** A vector of length 1, as providers give them. */
function vectorOf(text: string, dimensions: unknown): readonly number[] {
  const isCount = typeof dimensions === 'number' && Number.isSafeInteger(dimensions) && dimensions > 0;
  const size = isCount ? Math.min(dimensions, maxDimensions) : defaultDimensions;
  const random = randomFor(0, text);
  const raw = Array.from({ length: size }, () => random() * 2 - 1);
  const length = Math.hypot(...raw);
  return raw.map((value) => Number((value / length).toFixed(7)));
}

function textsOf(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input)) return [];
  // A list of numbers is one text as tokens.
  if (input.every((item) => typeof item === 'number')) return [input.join(' ')];
  return input.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

function geminiText(request: Fields): string {
  return listOf(fieldsOf(request, 'content'), 'parts')
    .map((part) => textField(part, 'text'))
    .join('');
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64');
}
