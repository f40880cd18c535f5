import module, { createRequire } from 'node:module';
import { readProperty } from '../../errors/classify/safe-read.ts';

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
  /** The compiler, found from the folder of a file or from ours. */
  readonly compiler: (file: string) => Compiler | undefined;
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
  { file, strippers = systemStrippers() }: { readonly file: string; readonly strippers?: TypeStrippers },
): Stripped {
  if (strippers.isNative) return { type: 'native' };
  if (strippers.strip !== undefined) return byNode(text, strippers.strip);
  const compiler = strippers.compiler(file);
  if (compiler === undefined) return { type: 'no-compiler' };
  return byCompiler(text, { file, compiler });
}

/** Whether types could be taken out of such a file. Looks for a compiler without loading it: nobody may have said yes to it. */
export function canStripTypes(file: string): boolean {
  const { isNative, strip } = systemStrippers();
  return isNative || strip !== undefined || [import.meta.url, file].some(hasCompiler);
}

function hasCompiler(from: string): boolean {
  try {
    createRequire(from).resolve('typescript');
    return true;
  } catch {
    return false; // Not installed there.
  }
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

function systemStrippers(): TypeStrippers {
  const strip: unknown = readProperty(module, 'stripTypeScriptTypes');
  return {
    isNative: Boolean(readProperty(process.features, 'typescript')),
    strip: typeof strip === 'function' ? (strip as (text: string) => string) : undefined,
    // Ours first: what lies in a workspace is code of others.
    compiler: (file) => requireCompiler(import.meta.url) ?? requireCompiler(file),
  };
}

function requireCompiler(from: string): Compiler | undefined {
  try {
    const found: unknown = createRequire(from)('typescript');
    const isOne = typeof readProperty(found, 'transpileModule') === 'function';
    return isOne ? (found as Compiler) : undefined;
  } catch {
    return undefined; // Not installed there, or not to be loaded: whoever asked looks elsewhere.
  }
}
