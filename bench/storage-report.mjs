// What bench/storage.mjs measures with and says.
import { closeSync, fdatasyncSync, openSync, statfsSync, writeSync } from 'node:fs';

/** @param {readonly number[]} list */
export function median(list) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}

/** @param {readonly (readonly number[])[]} rounds */
export function medianOfEach(rounds) {
  return (rounds[0] ?? []).map((_, index) => median(rounds.map((figures) => figures[index] ?? Number.NaN)));
}

/** @param {NodeJS.CpuUsage} [before] */
export function cpuUs(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** @param {number} time */
export function microseconds(time) {
  return time > 10_000 ? `${(time / 1000).toFixed(1)} ms` : `${time.toFixed(time < 10 ? 1 : 0)} µs`;
}

/** @param {number} value */
export function ratio(value) {
  return value.toFixed(2);
}

/**
 * @param {string} title
 * @param {{ columns: readonly string[], rows: readonly (readonly string[])[] }} table
 */
export function printTable(title, { columns, rows }) {
  console.log(`\n${title}`);
  for (const [name = '', ...cells] of [['', ...columns], ...rows]) {
    console.log(name.padEnd(30) + cells.map((cell) => cell.padStart(14)).join(''));
  }
}

const appended = Buffer.alloc(200, 'a');

/**
 * A plain file that is added to: what the disk itself takes for one durable write.
 *
 * @param {string} file
 */
export function openPlainFile(file) {
  const descriptor = openSync(file, 'a', 0o600);
  return {
    /** Gives the microseconds of one small append that is on the disk. */
    append: () => {
      const startedMs = performance.now();
      writeSync(descriptor, appended);
      fdatasyncSync(descriptor);
      return (performance.now() - startedMs) * 1000;
    },
    close: () => closeSync(descriptor),
  };
}

/** What only looks like a disk: an fdatasync costs nothing there. @type {ReadonlyMap<number, string>} */
const memoryTypes = new Map([
  [0x01_02_19_94, 'tmpfs'],
  [0x85_84_58_f6, 'ramfs'],
]);
/** @type {ReadonlyMap<number, string>} */
const diskTypes = new Map([
  [0xef_53, 'ext4'],
  [0x58_46_53_42, 'xfs'],
  [0x91_23_68_3e, 'btrfs'],
  [0x79_4c_76_30, 'overlay'],
  [0x2f_c1_2f_c1, 'zfs'],
  [0x1a, 'apfs'],
]);

/**
 * The kind of file system that a folder is on. Throws where it is memory.
 *
 * @param {string} folder
 */
export function fileSystemOf(folder) {
  const { type } = statfsSync(folder);
  const memory = memoryTypes.get(type);
  if (memory !== undefined)
    throw new Error(`"${folder}" is memory (${memory}): give a folder on a disk with --dir=`);
  return diskTypes.get(type) ?? `type 0x${type.toString(16)}`;
}
