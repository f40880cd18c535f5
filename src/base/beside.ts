/**
 * Something that is made once for each object and kept as long as that lives. On the object itself, where nobody sees it: engines
 * keep what a table of weak keys holds until a full collection, and with it whole runs that are long over. What cannot be added
 * to, because it is frozen, has its own made anew each time.
 *
 * @example
 * const sizeOf = beside((list: readonly string[]) => list.join('').length);
 */
export function beside<Owner extends object, Value>(make: (owner: Owner) => Value): (owner: Owner) => Value {
  const key = Symbol('rerail.beside');
  return (owner) => {
    const known = (owner as Kept<typeof key, Value>)[key];
    if (known !== undefined) return known.value;
    const value = make(owner);
    // Hidden also from whoever copies the object member by member: a copy is another one.
    if (Object.isExtensible(owner)) Object.defineProperty(owner, key, { value: { value } });
    return value;
  };
}

type Kept<Key extends symbol, Value> = { readonly [Name in Key]?: { readonly value: Value } };
