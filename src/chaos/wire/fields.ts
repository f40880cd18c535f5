import { isRecord } from '../../base/json.ts';

/** An object from outside. */
export type Fields = Readonly<Record<string, unknown>>;

/** The objects of a list, or none. */
export function listOf(body: Fields, name: string): readonly Fields[] {
  const value = body[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function fieldsOf(body: Fields, name: string): Fields {
  const value = body[name];
  return isRecord(value) ? value : {};
}

export function textField(body: Fields, name: string): string {
  return textOr(body[name]);
}

export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
