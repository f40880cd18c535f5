export { vertex } from './vertex.ts';
export type { AccessTokenSource, VertexOptions } from './vertex.ts';
