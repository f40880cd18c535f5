/** A verb that throws rejects instead: its caller gets failures in one way. */
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
