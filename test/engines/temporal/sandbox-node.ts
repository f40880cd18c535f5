// Stands in the place of modules of Node inside a workflow of the tests: the suite imports them and does not get that far.

function never(): never {
  throw new Error('Nothing in a workflow does this');
}

export const setTimeout: () => never = never;
export const setImmediate: () => never = never;
export const isDeepStrictEqual: () => never = never;
