export { dbos } from './dbos.ts';
export type { DbosOptions } from './options.ts';
