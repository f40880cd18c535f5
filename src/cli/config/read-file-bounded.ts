import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { readProperty } from '../../errors/classify/safe-read.ts';

/** The bytes of a file, or why there are none. */
export type FileRead =
  | { readonly type: 'read'; readonly bytes: Uint8Array }
  | { readonly type: 'missing' }
  /** The rest of a sentence: `is a directory`. */
  | { readonly type: 'unreadable'; readonly why: string };

/** Reads a whole file of at most so many bytes. Never waits for a pipe, a socket or a device, and never rejects for a file. */
export async function readFileBounded(file: string, maxBytes: number): Promise<FileRead> {
  try {
    const found = await stat(file);
    if (!found.isFile()) {
      return {
        type: 'unreadable',
        why: found.isDirectory() ? 'is a directory, not a file' : 'is no regular file',
      };
    }
    if (found.size > maxBytes) return tooLarge(found.size, maxBytes);
    return await readOpened(file, maxBytes);
  } catch (error) {
    const errno = readProperty(error, 'code');
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return { type: 'missing' };
    if (typeof errno !== 'string') throw error;
    const why =
      errno === 'EACCES' || errno === 'EPERM' ? 'may not be read by you' : `cannot be read (${errno})`;
    return { type: 'unreadable', why };
  }
}

async function readOpened(file: string, maxBytes: number): Promise<FileRead> {
  // What was looked at may be another file by now: a pipe must not hold us, and an endless file must end.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) return { type: 'unreadable', why: 'is no regular file' };
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length <= maxBytes) {
      // Bounded: each round fills a part of the buffer, or ends.
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) return tooLarge(length, maxBytes);
    return { type: 'read', bytes: Uint8Array.from(buffer.subarray(0, length)) };
  } finally {
    await handle.close();
  }
}

function tooLarge(size: number, maxBytes: number): FileRead {
  return { type: 'unreadable', why: `has ${size} bytes, which is more than the ${maxBytes} that are read` };
}
