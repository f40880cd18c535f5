/**
 * Loads a package of this folder. By a name in a variable, for the checks of the whole repository run without the peers; so
 * what is used of it is said by whoever asks.
 *
 * @param {string} name
 * @returns {Promise<unknown>}
 */
export async function loadPeer(name) {
  return import(name);
}
