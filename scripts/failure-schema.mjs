// The JSON Schema of a failure document, made from the tables.
import { failureCodes, origins } from '../dist/errors/codes.js';
import { failureDocumentVersion } from '../dist/errors/failure-document.js';
import { classifiers, phases, sideEffects } from '../dist/errors/failure.js';

const text = { type: 'string' };

export function failureSchema() {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'rerail/errors/failure.schema.json',
    title: 'Rerail failure document',
    description:
      'A failure as this version writes it, for a worker, an HTTP body or a file. A reader should take a code it does not know as UNKNOWN, and leave out fields it does not know, as RerailError.fromJSON does.',
    type: 'object',
    required: ['type', 'version', 'name', 'failure'],
    properties: {
      type: { const: 'rerail.failure' },
      version: { const: failureDocumentVersion },
      name: { ...text, description: 'The family class, for example ModelError.' },
      failure: failure(),
      docs: { ...text, description: 'Where the code is explained, in the documentation of the package.' },
    },
    additionalProperties: false,
  };
}

function failure() {
  return {
    type: 'object',
    required: ['code', 'origin', 'message', 'retryable', 'classifiedBy', 'context', 'causes'],
    properties: {
      code: { anyOf: [{ enum: failureCodes }, { type: 'string', pattern: '^[A-Z][A-Z0-9_]{2,60}$' }] },
      origin: { enum: origins },
      message: { ...text, description: 'For a developer; redacted and bounded.' },
      retryable: { type: 'boolean' },
      retryAfterMs: { type: 'number', minimum: 0 },
      phase: { enum: phases },
      sideEffect: { enum: sideEffects },
      provider: {
        type: 'object',
        properties: {
          provider: text,
          model: text,
          statusCode: { type: 'number' },
          requestId: text,
          errorType: text,
        },
        additionalProperties: false,
      },
      classifiedBy: { enum: classifiers },
      hint: text,
      context: { type: 'object' },
      causes: {
        type: 'array',
        maxItems: 8,
        items: {
          type: 'object',
          required: ['name', 'message'],
          properties: {
            name: text,
            message: text,
            code: text,
            stack: {
              type: 'array',
              maxItems: 12,
              items: text,
              description: 'Where it was thrown, for a developer: one frame each, innermost first.',
            },
          },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  };
}
