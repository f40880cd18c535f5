/** Throws a defect, our own bug, when `condition` does not hold. Never use it for what a user or the world may do. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw createDefect(message);
}

/** Ends an exhaustive switch: a new member of the union is a compile error here, and a defect if it slips through. */
export function unreachable(value: never): never {
  throw createDefect(`This place must not be reached, but it was with ${describe(value)}`);
}

/** A defect is recognised by its name, for it has no class of its own: nobody may catch it by type and go on. */
function createDefect(message: string): Error {
  const defect = new Error(message);
  defect.name = 'Defect';
  return defect;
}

const maxDescriptionCharacters = 200;

function describe(value: unknown): string {
  try {
    // `undefined`, functions and symbols have no JSON, whatever the declared type says.
    const json = JSON.stringify(value) as string | undefined;
    return (json ?? String(value)).slice(0, maxDescriptionCharacters);
  } catch {
    // A cycle or a throwing `toJSON` must not replace the defect that is being reported.
    return `a value of type ${typeof value}`;
  }
}
