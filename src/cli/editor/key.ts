/** One key, or one piece of text that came in at once. */
export type Key =
  | { readonly type: 'text'; readonly text: string }
  /** Pasted: whatever is in it, it is text. */
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: KeyName };

export type KeyName =
  | 'enter'
  | 'new-line'
  | 'tab'
  | 'escape'
  | 'interrupt'
  | 'end-of-input'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word-left'
  | 'word-right'
  | 'delete-word'
  | 'delete-word-right'
  | 'delete-to-start'
  | 'delete-to-end'
  | 'clear-screen'
  | 'unknown';
