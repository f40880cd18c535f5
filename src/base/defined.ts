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
  // By key, for lists of entries are built on every failure and show in the benchmark.
  for (const name of Object.keys(fields)) {
    const value: unknown = fields[name as keyof T]; // Object.keys loses the key type.
    if (value !== undefined) result[name] = value;
  }
  return result as Defined<T>; // Built field by field, which the compiler cannot follow.
}
