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
  /** How this program was called, so that it can say what to type next: `npx rerail`. */
  readonly command: string;
  /** Of this package. */
  readonly version: string;
}

/** What every command is given. */
export interface CommandContext {
  readonly io: CliIo;
  /** Hears how the command ended. */
  readonly onExitCode: (exitCode: number) => void;
}
