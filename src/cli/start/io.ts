/** Where text goes. */
export interface TextSink {
  readonly write: (text: string) => unknown;
}

/** All that the command line touches of the world. It is handed in, so that unit tests need no process. */
export interface CliIo {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Opened only when it is read. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  /** The bytes of a file, in pieces. A missing or unreadable file rejects while it is read, with an errno in `code`. */
  readonly readFile: (path: string) => AsyncIterable<Uint8Array>;
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Of the terminal behind stdout, where there is one. */
  readonly columns: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Where the program was called. */
  readonly folder: string;
  /** The home folder of the person who called it, as `HOME` has it: it may be empty or relative. Nothing where there is none. */
  readonly home: string | undefined;
  /** The home folder in the system's list of users, which the environment cannot change. `home` where it is left out. */
  readonly accountHome?: string;
  /** The keyboard and the screen, where both are a terminal that can do more than print lines. */
  readonly terminal: Terminal | undefined;
  /** How this program was called, so that it can say what to type next: `npx rerail`. */
  readonly command: string;
  /** Of this package. */
  readonly version: string;
}

/** A keyboard and a screen. */
export interface Terminal {
  /** Raw, from the first to the last listener: every key comes as it is, Ctrl-C too. Gives how to stop. */
  readonly onKeys: (listen: (bytes: Uint8Array) => void) => () => void;
  readonly write: (text: string) => void;
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly onResize: (listen: () => void) => () => void;
}
