/** What a failure code says to its three readers. */
export interface ThreeTexts {
  /** What the code means; also the text of docs/errors.md. */
  readonly forDeveloper: string;
  /** What happened, and what to do next. `{Provider}`, `{model}`, `{tool}`, `{subject}` and `{message}` are filled in. */
  readonly forPerson: { readonly what: string; readonly next: string };
  /** What to change, with the same placeholders. */
  readonly forModel: string;
}
