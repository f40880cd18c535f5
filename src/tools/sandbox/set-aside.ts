import { randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { visible } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Launch } from './launch.ts';
import { findProtected, placeBounds } from './protected-places.ts';
import type { ProtectedPlaces } from './protected-places.ts';
import { runProcess } from './run-process.ts';

const timeoutMs = 20_000;
const maxNamed = 20;
const maxRounds = 8;
/** Linux takes 128 KB, and a single path in quotes may have 16. */
const maxCommandBytes = 64 * 1024;
const maxOutputBytes = 2000;
const maxSaidCharacters = 500;
/** A name has at most 255 bytes, a character at most four. */
const maxShownCharacters = 50;

/** What was there before the command, and what puts it in order. */
export interface SetAsideOptions {
  readonly before: ProtectedPlaces;
  /** A command with no more rights than the one that has run, so that no link leads it astray. */
  readonly launch: Launch;
  readonly clock: Clock;
}

/**
 * Moves what a command has made in protected places to where nothing looks for it, and says so. It is not deleted: a person may have
 * made it meanwhile.
 */
export async function setAsideNew(
  workspace: Workspace,
  options: SetAsideOptions,
): Promise<readonly string[]> {
  const { before } = options;
  const after = await lookAgain(workspace, options);
  const strange = [...after.found.keys()].filter((name) => before.found.get(name) !== after.found.get(name));
  const blind = newlyUnreadable(before, after);
  return [
    ...(strange.length === 0 ? [] : await setAside(strange, { ...options, root: workspace.root })),
    ...(blind.length === 0
      ? []
      : [`Folders that can no longer be listed, and may hold what is protected: ${list(blind)}`]),
    ...(after.isCut || !after.canHoldAll
      ? [
          'There are too many names or protected places here to look at them all; no command will run until some are removed',
        ]
      : []),
  ];
}

/** A command may have hidden a folder by its mode: those are opened first. */
async function lookAgain(
  workspace: Workspace,
  { before, launch, clock }: SetAsideOptions,
): Promise<ProtectedPlaces> {
  const look = (): Promise<ProtectedPlaces> => findProtected(workspace, { maxNames: placeBounds.namesLeft });
  let after = await look();
  for (let round = 0; round < maxRounds && newlyUnreadable(before, after).length > 0; round += 1) {
    const names = newlyUnreadable(before, after).slice(0, maxNamed);
    await runLines(
      names.map((name) => `chmod u+rwx -- ${quote(`./${name}`)}`),
      launch,
      clock,
    );
    after = await look();
  }
  return after;
}

function newlyUnreadable(before: ProtectedPlaces, after: ProtectedPlaces): readonly string[] {
  return after.unreadable.filter((folder) => !before.unreadable.includes(folder));
}

async function setAside(
  names: readonly string[],
  { root, launch, clock }: SetAsideOptions & { readonly root: string },
): Promise<readonly string[]> {
  const folder = `set-aside-${randomBytes(4).toString('hex')}`;
  const moves = names.map((name, index) => {
    const above = quote(`./${path.posix.dirname(name)}`);
    const shown = path.posix.basename(name).slice(0, maxShownCharacters);
    const target = quote(`./${folder}/${index}-${shown}.set-aside`);
    const own = quote(`./${name}`);
    // A folder that may not be written cannot be moved either. A link is left alone: the mode would be that of what it leads to.
    return `chmod -f u+rwx ${above}; [ -L ${own} ] || chmod -f u+rwx ${own}; mv -f -- ${own} ${target}`;
  });
  const said = await runLines([`chmod -f u+rwx .; mkdir ./${folder}`, ...moves], launch, clock);
  const left = await stillThere(names, root);
  const moved = names.filter((name) => !left.includes(name));
  const where = `moved to ${folder}/ when the command had ended`;
  return [
    ...(moved.length === 0 ? [] : [`Protected and not there before, so ${where}: ${list(moved)}`]),
    ...(left.length === 0
      ? []
      : [`Protected, not there before, and could NOT be moved away: ${list(left)}. ${said}`]),
  ];
}

/** In as many commands as it takes: an argument has a longest length, and names may have been made long for that. */
async function runLines(lines: readonly string[], launch: Launch, clock: Clock): Promise<string> {
  const { signal } = new AbortController();
  const said: string[] = [];
  for (const command of inPieces(lines)) {
    const end = await runProcess(launch, { command, timeoutMs, signal, maxOutputBytes }, clock);
    said.push(end.stderr.text.trim());
  }
  return boundText(said.filter(Boolean).join('; '), maxSaidCharacters);
}

function inPieces(lines: readonly string[]): readonly string[] {
  const pieces: string[] = [];
  let piece: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const more = Buffer.byteLength(line) + 1;
    if (bytes + more > maxCommandBytes && piece.length > 0) {
      pieces.push(piece.join('\n'));
      piece = [];
      bytes = 0;
    }
    piece.push(line);
    bytes += more;
  }
  return [...pieces, piece.join('\n')];
}

async function stillThere(names: readonly string[], root: string): Promise<readonly string[]> {
  const all = await Promise.all(
    names.map((name) =>
      lstat(path.join(root, name)).then(
        () => [name],
        () => [],
      ),
    ),
  );
  return all.flat();
}

function list(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return names.slice(0, maxNamed).map(visible).join(', ') + more;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
