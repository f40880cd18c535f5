import type { ReadStream, WriteStream } from 'node:tty';
import type { Terminal } from './io.ts';

/** The terminal of this process. The keyboard is raw only while there is a listener, and is restored then. */
export function openTerminal(input: ReadStream, output: WriteStream): Terminal {
  const listeners = new Set<(bytes: Uint8Array) => void>();
  const hear = (bytes: Uint8Array): void => {
    for (const listen of listeners) listen(bytes);
  };
  return {
    onKeys: (listen) => {
      if (listeners.size === 0) {
        input.setRawMode(true);
        input.on('data', hear);
        input.resume();
      }
      listeners.add(listen);
      return () => {
        if (!listeners.delete(listen) || listeners.size > 0) return;
        input.off('data', hear);
        input.setRawMode(false);
        input.pause();
      };
    },
    write: (text) => void output.write(text),
    size: () => ({ columns: output.columns, rows: output.rows }),
    onResize: (listen) => {
      output.on('resize', listen);
      return () => output.off('resize', listen);
    },
  };
}
