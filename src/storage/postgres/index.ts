export { postgres } from './postgres.ts';
export type { PostgresAddress, PostgresOptions } from './postgres.ts';
