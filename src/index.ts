export { classifyFailure } from './errors/classify-failure.ts';
export { classifyProviderFailure } from './errors/classify-provider-failure.ts';
export type { FailureCode, Origin } from './errors/codes.ts';
export { createFailure } from './errors/failure.ts';
export type { Failure } from './errors/failure.ts';
export { renderFailure } from './errors/render-failure.ts';
export { RerailError } from './errors/rerail-error.ts';
