import path from 'node:path';
import ts from 'typescript';

/** One import, re-export, dynamic import or `import('…')` type of a module. */
export interface Import {
  readonly specifier: string;
  /** The path inside the repository, for relative imports and for those of our own package by name. */
  readonly target: string | undefined;
  /** Whether it leaves no trace at run time. `import { type A }` does leave one under `verbatimModuleSyntax`. */
  readonly isTypeOnly: boolean;
  readonly line: number;
}

/** A source file with what the rules ask about it. */
export interface Module {
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
  readonly syntax: ts.SourceFile;
  readonly imports: readonly Import[];
  /** Whether an identifier in a value position is bound nowhere in the file, hence a global. */
  readonly isGlobal: (identifier: ts.Identifier) => boolean;
}

/** Parses every TypeScript and JavaScript file among `files`. Reads nothing from disk. */
export function readModules(files: ReadonlyMap<string, string>): readonly Module[] {
  const paths = [...files.keys()].filter((file) => /\.(ts|mts|mjs|js)$/.test(file));
  const program = createProgram(paths, files);
  const checker = program.getTypeChecker();
  return paths.flatMap((file) => {
    const syntax = program.getSourceFile(file);
    if (syntax === undefined) return [];
    return {
      path: file,
      text: syntax.text,
      isTest: file.endsWith('.test.ts'),
      syntax,
      imports: findImports(syntax),
      isGlobal: (identifier) => isUnbound(identifier, checker),
    };
  });
}

/** The line, counted from 1, on which a node starts. */
export function lineOf(node: ts.Node): number {
  const syntax = node.getSourceFile();
  return syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1;
}

/** Every node of a file, outer before inner. */
export function* walk(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  for (const child of children) yield* walk(child);
}

/** Without libraries and without resolution, the checker knows exactly the names a file binds itself. */
function createProgram(paths: readonly string[], files: ReadonlyMap<string, string>): ts.Program {
  const options: ts.CompilerOptions = {
    noLib: true,
    noResolve: true,
    types: [],
    allowJs: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
  };
  const host: ts.CompilerHost = {
    fileExists: (file) => files.has(file),
    readFile: (file) => files.get(file),
    getSourceFile: (file, languageVersion) => {
      const text = files.get(file);
      return text === undefined ? undefined : ts.createSourceFile(file, text, languageVersion, true);
    },
    getDefaultLibFileName: () => 'lib.d.ts',
    writeFile: () => undefined,
    getCurrentDirectory: () => '',
    getCanonicalFileName: (file) => file,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
  };
  return ts.createProgram({ rootNames: paths, options, host });
}

function findImports(syntax: ts.SourceFile): readonly Import[] {
  return [...walk(syntax)].flatMap((node) => {
    const found = readImport(node);
    if (found === undefined) return [];
    return { ...found, target: resolve(syntax.fileName, found.specifier), line: lineOf(node) };
  });
}

function readImport(node: ts.Node): Pick<Import, 'specifier' | 'isTypeOnly'> | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const isTypeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return { specifier: node.moduleSpecifier.text, isTypeOnly };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, isTypeOnly: node.isTypeOnly };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    return argument && ts.isStringLiteralLike(argument)
      ? { specifier: argument.text, isTypeOnly: false }
      : undefined;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument;
    return ts.isStringLiteral(literal) ? { specifier: literal.text, isTypeOnly: true } : undefined;
  }
  return undefined;
}

function resolve(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier);
  // Our own package by its name is a way around the table, so it counts as its entry.
  return /^rerail(\/|$)/.test(specifier) ? 'src/index.ts' : undefined;
}

function isUnbound(identifier: ts.Identifier, checker: ts.TypeChecker): boolean {
  const { parent } = identifier;
  if (ts.isPropertyAccessExpression(parent) && parent.name === identifier) return false;
  if (ts.isBindingElement(parent) && parent.propertyName === identifier) return false;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  if (ts.isTypeQueryNode(parent) || ts.isQualifiedName(parent) || ts.isTypeReferenceNode(parent))
    return false;
  const symbol = ts.isShorthandPropertyAssignment(parent)
    ? checker.getShorthandAssignmentValueSymbol(parent)
    : checker.getSymbolAtLocation(identifier);
  return (symbol?.declarations ?? []).length === 0;
}
