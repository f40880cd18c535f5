import { visible } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import { causesOf } from '../../errors/classify/causes.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { FailureDetails } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';

const maxShownCharacters = 200;

/** A failure of a workspace tool, to throw. Nothing was changed, unless `details` say otherwise. */
export function workspaceError(
  code: FailureCode,
  message: string,
  details: Partial<FailureDetails> = {},
): RerailError {
  return RerailError.from(createFailure(code, { origin: 'tool', sideEffect: 'none', ...details, message }));
}

/** A path as a sentence names it: bounded, what cannot be seen is marked, and in quotes where it could be misread. */
export function showPath(path: string): string {
  const shown = boundText(visible(path), maxShownCharacters);
  return /^[\w./@+-]+$/.test(shown) ? shown : `"${shown}"`;
}

/** What the system said to a path, as a failure in words. What is one already, or comes from no system, stays as it is. */
export function fromSystem(error: unknown, path: string): Error {
  const errno = errnoOf(error);
  if (error instanceof Error && (RerailError.isInstance(error) || errno === undefined)) return error;
  return systemFailure(error, { path, errno: errno ?? 'nothing that is known' });
}

function systemFailure(
  error: unknown,
  { path, errno }: { readonly path: string; readonly errno: string },
): RerailError {
  const { code, says, ...details } = (systemErrors as Readonly<Record<string, SystemError>>)[errno] ?? {
    code: 'IO_ERROR',
    says: `the system answered ${errno}`,
  };
  return workspaceError(code, `Cannot use ${showPath(path)}: ${says}`, {
    ...details,
    causes: causesOf(error),
  });
}

/** The name by which the system calls an error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  // What begins with `ERR_` comes from Node and says that we called it wrongly.
  return typeof error.code === 'string' && /^E[A-Z\d]+$/.test(error.code) ? error.code : undefined;
}

interface SystemError {
  readonly code: FailureCode;
  readonly says: string;
  readonly retryable?: boolean;
}

const systemErrors = {
  ENOENT: { code: 'NOT_FOUND', says: 'there is nothing by that name' },
  ENOTDIR: { code: 'NOT_FOUND', says: 'a part of it is a file and not a folder' },
  EISDIR: { code: 'VALIDATION_ERROR', says: 'it is a folder' },
  EEXIST: { code: 'IO_ERROR', says: 'something by that name has appeared meanwhile; read it first' },
  ELOOP: {
    code: 'PATH_OUTSIDE_WORKSPACE',
    says: 'a link in it leads in a circle, or was put there meanwhile',
  },
  ENAMETOOLONG: { code: 'VALIDATION_ERROR', says: 'the name is too long for this file system' },
  EACCES: { code: 'PERMISSION_DENIED', says: 'this process may not open it (EACCES)' },
  EPERM: { code: 'PERMISSION_DENIED', says: 'the system does not allow it (EPERM)' },
  EROFS: { code: 'PERMISSION_DENIED', says: 'the file system can only be read (EROFS)' },
  ENXIO: { code: 'VALIDATION_ERROR', says: 'it is a pipe, a socket or a device and not a file' },
  ENOSPC: { code: 'IO_ERROR', says: 'the disk is full (ENOSPC)' },
  EDQUOT: { code: 'IO_ERROR', says: 'the disk quota is used up (EDQUOT)' },
  EMFILE: { code: 'IO_ERROR', says: 'this process has too many files open (EMFILE)', retryable: true },
  ENFILE: { code: 'IO_ERROR', says: 'the system has too many files open (ENFILE)', retryable: true },
  EBUSY: { code: 'IO_ERROR', says: 'it is in use (EBUSY)', retryable: true },
} as const satisfies Readonly<Record<string, SystemError>>;
