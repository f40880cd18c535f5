/** What is outside, and where the command runs. */
export interface Scene {
  readonly root: string;
  /** A folder outside, for everybody. */
  readonly outside: string;
  readonly secret: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly abstractName: string;
  /** The network namespace of the runtime, as procfs names it. */
  readonly network: string;
  /** A file outside that the runtime was started with, open under high numbers. */
  readonly inherited: string;
  /** A process outside with the secret in its environment and in its arguments. */
  readonly pid: number;
}

/** What came of it, as far as it is seen from outside. */
export interface Traces {
  readonly stdout: string;
  readonly tcp: number;
  readonly udp: number;
  readonly abstract: number;
  /** Connections to a socket file outside. */
  readonly unix: number;
  /** Connections to a socket file in the workspace. */
  readonly inside: number;
  /** Datagrams to socket files outside, with an abstract name, and in the workspace. */
  readonly datagrams: readonly string[];
  readonly isDecoyAlive: boolean;
  /** A file that the command's child keeps writing is still being written. */
  readonly isBeating: boolean;
  /** Our own reading tool was led out by a link. */
  readonly isReadThroughLink: boolean;
}

export interface Attempt {
  readonly name: string;
  /** It changes what others look at, so it has a command and a fresh workspace for itself. The others share one. */
  readonly isAlone?: true;
  readonly script: (scene: Scene) => string;
  readonly isOut: (scene: Scene, traces: Traces) => boolean;
}

/** Printed by a script whose forbidden step worked. */
export const mark = 'GOT-OUT';
export const saysSo = (_scene: Scene, { stdout }: Traces): boolean => stdout.includes(mark);
export const showsSecret = ({ secret }: Scene, { stdout }: Traces): boolean => stdout.includes(secret);

export function perl(code: string): string {
  return `perl -MSocket -e '${code}'`;
}
