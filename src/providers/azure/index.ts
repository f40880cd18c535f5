export { azure } from './azure.ts';
export type { AzureOptions } from './azure.ts';
