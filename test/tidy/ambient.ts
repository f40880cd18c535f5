import ts from 'typescript';
import { layerOf } from './layers.ts';
import { lineOf, walk, type Module } from './module.ts';
import type { Problem } from './problem.ts';

/** Layers to which time, randomness, ids, the network and the environment are handed in. */
const handedInLayers = ['base', 'errors', 'agent', 'resilience', 'context', 'runtime', 'flow'];

/** The one file below the edges that touches the world, so that everything else can be given a double of it. */
const worldFile = 'src/base/system.ts';

const forbiddenGlobals = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'Date.now',
  'Math.random',
  'performance.now',
  'process.env',
  'process.hrtime',
  'crypto.randomUUID',
  'crypto.getRandomValues',
  'AbortSignal.timeout',
]);

/** Modules of Node that are clock, network, disk or environment under another name. */
const forbiddenModules =
  /^(node:)?(timers|fs|http|https|http2|net|tls|dns|dgram|child_process|worker_threads|perf_hooks|process|os)(\/promises)?$/;

/** Finds clocks, randomness, timers, network and environment in the layers that must be handed them. */
export function findAmbientProblems(module: Module): readonly Problem[] {
  const layer = layerOf(module.path);
  if (layer === undefined || !handedInLayers.includes(layer)) return [];
  if (module.isTest || module.path === worldFile) return [];

  const problem = (name: string, line: number): Problem => ({
    rule: 'ambient',
    path: module.path,
    line,
    message: `${name} must be handed in; it stands in ${worldFile} and in edges only`,
  });
  const uses = [...walk(module.syntax)].flatMap((node) => {
    const name = readAmbientUse(node, module);
    return name === undefined ? [] : [problem(name, lineOf(node))];
  });
  const imports = module.imports
    .filter((found) => !found.isTypeOnly && forbiddenModules.test(found.specifier))
    .map((found) => problem(found.specifier, found.line));
  return [...uses, ...imports];
}

function readAmbientUse(node: ts.Node, module: Module): string | undefined {
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const isNow = readGlobalName(node.expression, module) === 'Date' && (node.arguments ?? []).length === 0;
    return isNow ? 'new Date()' : undefined;
  }
  // The two spellings `globalThis.x` and `x` are one name; the shorter chain inside is looked at on its own.
  const name = readGlobalName(node, module);
  return name !== undefined && forbiddenGlobals.has(name) ? name : undefined;
}

/** `Date.now` for `Date.now`, `globalThis.Date.now` and `Date['now']`, if its root is a global. */
function readGlobalName(node: ts.Node, module: Module): string | undefined {
  if (ts.isIdentifier(node)) return module.isGlobal(node) ? node.text : undefined;
  const member = readMember(node);
  if (member === undefined) return undefined;
  const owner = readGlobalName(member.owner, module);
  if (owner === undefined) return undefined;
  return owner === 'globalThis' ? member.name : `${owner}.${member.name}`;
}

function readMember(node: ts.Node): { readonly owner: ts.Node; readonly name: string } | undefined {
  if (ts.isPropertyAccessExpression(node)) return { owner: node.expression, name: node.name.text };
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return { owner: node.expression, name: node.argumentExpression.text };
  }
  return undefined;
}
