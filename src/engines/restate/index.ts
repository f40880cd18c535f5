export { restate } from './restate.ts';
export type { RestateLimits, RestateOptions, ServeHandler, ServeOptions, ServePort } from './options.ts';
export type { RequestHandler } from './sdk.ts';
