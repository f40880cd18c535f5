export {
  classifyFailure,
  classifyProviderFailure,
  createFailure,
  renderFailure,
  RerailError,
} from './errors/index.ts';
export type { Failure, FailureCode, Origin } from './errors/index.ts';
