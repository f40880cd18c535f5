/** A verb that throws rejects instead: whoever calls it has one way to be told. */
export function promised<Given extends readonly unknown[], T>(
  verb: (...given: Given) => T | Promise<T>,
): (...given: Given) => Promise<T> {
  return (...given) => {
    try {
      return Promise.resolve(verb(...given));
    } catch (error) {
      return Promise.reject<T>(error);
    }
  };
}
