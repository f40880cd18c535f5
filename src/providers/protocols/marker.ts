const maxMarkerLength = 16;

/**
 * Tells an event without content from one to parse: `[DONE]`, or the blank data that some servers send to stay awake. It is
 * OpenAI's mark, but gateways write it, in small letters too, behind the answers of every protocol.
 */
export function readMarker(data: string): 'done' | 'blank' | undefined {
  if (data.length > maxMarkerLength) return undefined;
  const text = data.trim();
  if (text === '') return 'blank';
  return text.toUpperCase() === '[DONE]' ? 'done' : undefined;
}
