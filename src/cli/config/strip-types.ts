import { realpathSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { readProperty } from '../../errors/classify/safe-read.ts';
import { isInside } from './real-paths.ts';

/** A text in JavaScript; or for Node itself to strip; or what is in the way. */
export type Stripped =
  | { readonly type: 'script'; readonly text: string }
  | { readonly type: 'native' }
  /** Syntax that is none; the line is counted from 1. */
  | { readonly type: 'broken'; readonly line: number; readonly text: string }
  | { readonly type: 'no-compiler' };

/** What can strip types here; the process' own unless a test says otherwise. */
export interface TypeStrippers {
  /** `process.features.typescript`: Node loads TypeScript by itself. */
  readonly isNative: boolean;
  /** `module.stripTypeScriptTypes` of Node 22.13 and later. */
  readonly strip: ((text: string) => string) | undefined;
  /** The compiler of our own installation. One that a workspace brings along is code of others, and is never loaded. */
  readonly compiler: () => Compiler | undefined;
}

/** As much of the compiler's interface as is needed. Version 7 has none. */
export interface Compiler {
  readonly transpileModule: (text: string, options: object) => Transpiled;
}

interface Transpiled {
  readonly outputText: string;
  readonly diagnostics?: readonly {
    readonly start?: number | undefined;
    readonly messageText: string | { readonly messageText: string };
  }[];
}

/** Takes the types out of a text in TypeScript. */
export function stripTypes(
  text: string,
  { file, strippers }: { readonly file: string; readonly strippers: TypeStrippers },
): Stripped {
  if (strippers.isNative) return { type: 'native' };
  if (strippers.strip !== undefined) return byNode(text, strippers.strip);
  const compiler = strippers.compiler();
  if (compiler === undefined) return { type: 'no-compiler' };
  return byCompiler(text, { file, compiler });
}

/** What this process has. `grounds` are the folders from which nothing is loaded. */
export function systemStrippers(grounds: readonly string[]): TypeStrippers {
  const strip: unknown = readProperty(module, 'stripTypeScriptTypes');
  return {
    isNative: Boolean(readProperty(process.features, 'typescript')),
    strip: typeof strip === 'function' ? (strip as (text: string) => string) : undefined,
    compiler: () => loadCompiler(grounds),
  };
}

/** Whether types can be taken out here. */
export function canStripTypes({ isNative, strip, compiler }: TypeStrippers): boolean {
  return isNative || strip !== undefined || compiler() !== undefined;
}

function byNode(text: string, strip: (text: string) => string): Stripped {
  try {
    return { type: 'script', text: strip(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { type: 'broken', line: 1, text: message };
  }
}

function byCompiler(
  text: string,
  { file, compiler }: { readonly file: string; readonly compiler: Compiler },
): Stripped {
  const { outputText, diagnostics = [] } = compiler.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    // As Node strips: what is imported stays imported, unless it says `type`.
    compilerOptions: {
      target: 'es2023',
      module: 'esnext',
      verbatimModuleSyntax: true,
      inlineSourceMap: false,
    },
  });
  const [first] = diagnostics;
  if (first === undefined) return { type: 'script', text: outputText };
  const { messageText, start = 0 } = first;
  const words = typeof messageText === 'string' ? messageText : messageText.messageText;
  return { type: 'broken', line: text.slice(0, start).split('\n').length, text: words };
}

function loadCompiler(grounds: readonly string[]): Compiler | undefined {
  try {
    const require = createRequire(import.meta.url);
    // Where rerail is installed in the workspace, what is beside it is of the workspace too.
    const file = realpathSync(require.resolve('typescript'));
    if (grounds.some((ground) => isInside(file, ground))) return undefined;
    const found: unknown = require(file);
    const isOne = typeof readProperty(found, 'transpileModule') === 'function';
    return isOne ? (found as Compiler) : undefined;
  } catch {
    return undefined; // Not installed beside us, or not to be loaded.
  }
}
