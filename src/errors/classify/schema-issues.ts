import { readEntries, readProperty, readText } from './safe-read.ts';

const maxIssues = 5;

/**
 * The complaints of a schema library as one text, or `undefined` where the thrown value lists none. Zod, Valibot, ArkType
 * and every Standard Schema put them into `issues`, each with a message and a path. Values are never quoted.
 */
export function schemaIssues(thrown: unknown): string | undefined {
  const issues = readEntries(readProperty(thrown, 'issues'), maxIssues + 1).map(([, issue]) => issue);
  const texts = issues.map(describeIssue).filter((text) => text !== undefined);
  if (texts.length === 0 || texts.length !== issues.length) return undefined;
  const more = texts.length > maxIssues ? '; and more' : '';
  return texts.slice(0, maxIssues).join('; ') + more;
}

function describeIssue(issue: unknown): string | undefined {
  const message = readText(issue, 'message');
  if (message === undefined) return undefined;
  const path = readEntries(readProperty(issue, 'path'), 12).map(([, segment]) => pathSegment(segment));
  return path.length === 0 ? message : `"${path.join('.')}" ${message}`;
}

/** A segment is a key, or an object that holds one. */
function pathSegment(segment: unknown): string {
  const key = readProperty(segment, 'key') ?? segment;
  return typeof key === 'string' || typeof key === 'number' ? String(key) : '?';
}
