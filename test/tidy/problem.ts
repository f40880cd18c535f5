/** The rules of the house that the compiler and the linter cannot see. */
export type Rule =
  | 'layer'
  | 'import-path'
  | 'index'
  | 'export-star'
  | 'default-export'
  | 'file-name'
  | 'folder-size'
  | 'file-length'
  | 'function-length'
  | 'parameters'
  | 'ambient'
  | 'unfinished'
  | 'registry-host'
  | 'machine-path'
  | 'silenced-test';

/** One place that breaks one rule. */
export interface Problem {
  readonly rule: Rule;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}
