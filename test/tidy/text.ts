import type { Problem, Rule } from './problem.ts';

interface TextRule {
  readonly rule: Rule;
  readonly pattern: RegExp;
  readonly appliesTo: (path: string) => boolean;
  readonly message: string;
}

const isTestFile = (path: string): boolean => path.startsWith('test/') || path.endsWith('.test.ts');

/** A path that begins here, not one that continues a longer path or an address. */
const pathStart = String.raw`(?:file:\/\/|(?<![\w.\-/@}*\\]))`;

const textRules: readonly TextRule[] = [
  {
    rule: 'unfinished',
    pattern: /\b(TODO|FIXME)\b/,
    appliesTo: (path) => path.startsWith('src/'),
    message: 'Finish it or open an issue',
  },
  {
    rule: 'registry-host',
    pattern:
      /\bregistry\.[a-z0-9-]+\.(?:com|cloud|dev|internal|io|lan|local|net|org)\b|\bnpm\.pkg\.github\.com\b|\bregistry\s*=\s*['"]?http/i,
    appliesTo: () => true,
    message: 'Packages are known by their name, not by where one machine gets them',
  },
  {
    rule: 'machine-path',
    pattern: new RegExp(`${pathStart}/(work|root)/`),
    appliesTo: () => true,
    message: 'This path exists on one machine only',
  },
  {
    rule: 'machine-path',
    pattern: new RegExp(`${pathStart}/(home|tmp)/`),
    appliesTo: (path) => !isTestFile(path),
    message: 'This path exists on one machine only',
  },
];

/** Finds words and paths that must not stand in a file, whatever its language. */
export function findTextProblems(path: string, text: string): readonly Problem[] {
  const rules = textRules.filter((rule) => rule.appliesTo(path));
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ rule, message }) => ({ rule, path, line: index + 1, message })),
    );
}

/** Finds code whose file or folder is not named in kebab-case. */
export function findNameProblems(path: string): readonly Problem[] {
  if (!/^(src|test|scripts|examples|bench)\/.+\.(ts|mjs)$/.test(path)) return [];
  const wrong = path.split('/').find((part) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part));
  return wrong === undefined
    ? []
    : [{ rule: 'file-name', path, line: 1, message: `"${wrong}" is not in kebab-case` }];
}
