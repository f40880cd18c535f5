/** What JSON can hold. Whatever is journalled, sent or stored is of this type. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** An object that is not a list, from outside. Its fields are unknown until they are looked at. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
