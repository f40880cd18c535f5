import ts from 'typescript';
import { lineOf, walk, type Module } from './module.ts';
import type { Problem, Rule } from './problem.ts';

const maxFileLines = 300;
const maxTableLines = 400;
const maxFunctionLines = 50;
const maxParameters = 3;

/** Finds what is wrong with the shape of one module: its exports, its imports' paths, its sizes. */
export function findShapeProblems(module: Module): readonly Problem[] {
  const problem = (rule: Rule, line: number, message: string): Problem => ({
    rule,
    path: module.path,
    line,
    message,
  });
  return [
    ...findExportProblems(module, problem),
    ...findImportPathProblems(module, problem),
    ...findSizeProblems(module, problem),
    ...findSilencedTests(module, problem),
  ];
}

type Report = (rule: Rule, line: number, message: string) => Problem;

function findExportProblems(module: Module, problem: Report): readonly Problem[] {
  const isConfig = module.path.endsWith('.config.ts');
  const isIndex = /^src\/(.+\/)?index\.ts$/.test(module.path);
  return module.syntax.statements.flatMap((statement) => {
    const line = lineOf(statement);
    const found: Problem[] = [];
    if (isDefaultExport(statement) && !isConfig)
      found.push(problem('default-export', line, 'Export it by its name'));
    if (isExportStar(statement)) found.push(problem('export-star', line, 'List the names one by one'));
    if (isIndex && !isExportStar(statement) && !isNamedReExport(statement)) {
      found.push(problem('index', line, 'An index only re-exports names from other files'));
    }
    return found;
  });
}

function isDefaultExport(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  if (
    ts.isExportDeclaration(statement) &&
    statement.exportClause &&
    ts.isNamedExports(statement.exportClause)
  ) {
    return statement.exportClause.elements.some((element) => element.name.text === 'default');
  }
  if (!ts.canHaveModifiers(statement)) return false;
  return ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) ?? false;
}

function isExportStar(statement: ts.Statement): boolean {
  return (
    ts.isExportDeclaration(statement) &&
    !(statement.exportClause && ts.isNamedExports(statement.exportClause))
  );
}

function isNamedReExport(statement: ts.Statement): boolean {
  return ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined;
}

function findImportPathProblems(module: Module, problem: Report): readonly Problem[] {
  const isSource = module.path.startsWith('src/') && !module.isTest;
  return module.imports.flatMap(({ specifier, target, line }) => {
    if (target === undefined) return [];
    // Scripts and benchmarks are plain JavaScript and use what was built.
    if (target.startsWith('dist/') && /^(scripts|bench)\//.test(module.path)) return [];
    if (specifier.startsWith('.') && !/\.(ts|mjs|json)$/.test(specifier)) {
      return problem('import-path', line, `"${specifier}" must name the file with its extension, .ts`);
    }
    if (isSource && /(^|\/)index\.ts$/.test(target)) {
      return problem(
        'import-path',
        line,
        `"${specifier}" is an index: import from the file that defines the thing`,
      );
    }
    if (!module.isTest && target.endsWith('.test.ts')) {
      return problem('import-path', line, `"${specifier}" is a test, and only a runner may load it`);
    }
    return [];
  });
}

function findSizeProblems(module: Module, problem: Report): readonly Problem[] {
  if (!/^(src|scripts)\//.test(module.path)) return [];
  const functions = [...walk(module.syntax)].filter(ts.isFunctionLike);
  const crowded = functions.flatMap((node) => {
    const parameters = node.parameters.filter(({ name }) => name.getText() !== 'this').length;
    if (parameters <= maxParameters) return [];
    return problem(
      'parameters',
      lineOf(node),
      `A signature has at most ${maxParameters} parameters, not ${parameters}`,
    );
  });
  if (module.isTest) return crowded;

  const lines = module.text.split('\n').length - (module.text.endsWith('\n') ? 1 : 0);
  const maxLines = module.text.startsWith('// Table:') ? maxTableLines : maxFileLines;
  const long = functions.flatMap((node) => {
    const codeLines = countCodeLines(node);
    if (codeLines <= maxFunctionLines) return [];
    return problem(
      'function-length',
      lineOf(node),
      `A function has at most ${maxFunctionLines} lines, not ${codeLines}`,
    );
  });
  return [
    ...crowded,
    ...long,
    ...(lines > maxLines
      ? [problem('file-length', 1, `This file has at most ${maxLines} lines, not ${lines}`)]
      : []),
  ];
}

/** Lines that hold a token: blank lines and comments explain, and must not be saved on. */
function countCodeLines(node: ts.Node): number {
  const syntax = node.getSourceFile();
  const lines = new Set<number>();
  const visit = (child: ts.Node): void => {
    const children = child.getChildren(syntax);
    if (children.length > 0) return children.forEach(visit);
    const first = syntax.getLineAndCharacterOfPosition(child.getStart(syntax)).line;
    const last = syntax.getLineAndCharacterOfPosition(child.getEnd()).line;
    for (let line = first; line <= last; line += 1) lines.add(line);
  };
  node
    .getChildren(syntax)
    .filter((child) => !ts.isJSDoc(child))
    .forEach(visit);
  return lines.size;
}

function findSilencedTests(module: Module, problem: Report): readonly Problem[] {
  if (!module.isTest) return [];
  return [...walk(module.syntax)].flatMap((node) => {
    if (!ts.isPropertyAccessExpression(node) || !['skip', 'only', 'todo'].includes(node.name.text)) return [];
    if (!/^(it|test|describe|suite)\b/.test(node.expression.getText())) return [];
    return problem('silenced-test', lineOf(node), `${node.getText()} keeps tests from running`);
  });
}
