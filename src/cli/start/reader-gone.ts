/** As for any program whose reader has gone: 128 and the number of SIGPIPE. */
export const readerGoneExitCode = 141;

/** Whether an output failed because its reader has gone, as `head` does: of a pipe, or of a socket. */
export function isReaderGone({ code = '' }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED';
}

/** Calls `listen` for every write to standard output or error that no reader is left for. Returns how to stop. */
export function onReaderGone(listen: () => void): () => void {
  const hear = (error: NodeJS.ErrnoException): void => {
    if (isReaderGone(error)) listen();
  };
  const outputs = [process.stdout, process.stderr];
  for (const output of outputs) output.on('error', hear);
  return () => {
    for (const output of outputs) output.off('error', hear);
  };
}
