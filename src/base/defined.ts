/** The same fields without those that are `undefined`, as `exactOptionalPropertyTypes` wants optional ones. */
export type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Leaves out the fields that have no value.
 *
 * @example defined({ code, hint: hintFor(code) }); // { code } where there is no hint
 */
export function defined<T extends object>(fields: T): Defined<T> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) result[name] = value;
  }
  return result as Defined<T>; // Built field by field, which the compiler cannot follow.
}
