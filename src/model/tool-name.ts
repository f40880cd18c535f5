/** What every provider takes for the name of a tool; some take more. */
const legalName = /^[A-Za-z0-9_-]{1,64}$/;

const maxNameCharacters = 64;

/** Whether every provider takes the name. */
export function isToolName(name: string): boolean {
  return legalName.test(name);
}

/**
 * The name as every provider takes it in a conversation. A model may make up any name (`functions.pay`, 10 KB of text), and a
 * provider refuses the whole conversation that holds such a name. The prefix keeps a made-up name apart from the
 * tools that exist: `read file` does not become `read_file`.
 */
export function toToolName(name: string): string {
  if (legalName.test(name)) return name;
  const plain = name.slice(0, maxNameCharacters).replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  return `unknown_${plain === '' ? 'tool' : plain}`.slice(0, maxNameCharacters);
}
