/** What was done about a request on its way, and what its answer does not show. */
export type RequestNote =
  /** The server had closed the connection that was kept from the call before, and the request went out again on a new one. */
  | { readonly type: 'reconnected' }
  /** The provider has no words for the tool, so that it was not offered: one schema that is refused breaks the whole request. */
  | { readonly type: 'tool-left-out'; readonly tool: string; readonly reason: string }
  /** The provider does not take the schema of the answer, so that it was put in words. */
  | { readonly type: 'output-in-words'; readonly reason: string };

/** How many requests of an attempt went out again: each is one more that the provider may count. */
export function countResent(notes: readonly RequestNote[] | undefined): number {
  // A model need not be ours.
  return Array.isArray(notes) ? notes.filter((note: RequestNote) => note.type === 'reconnected').length : 0;
}
