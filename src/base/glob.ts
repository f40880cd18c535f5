/**
 * Whether a text fits a pattern in which `*` stands for any characters, none included, and everything else for itself. No
 * other sign has a meaning, and there is no way to make it slow.
 *
 * @example matchesGlob('git_status', 'git_*'); // true
 */
export function matchesGlob(text: string, glob: string): boolean {
  const pieces = glob.split('*');
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    // The leftmost place leaves the most room for the rest, so nothing has to be tried twice.
    const at = text.indexOf(piece, from);
    if (at === -1 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
