import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * Loaded before a service (`NODE_OPTIONS=--import …`): keeps a copy of the folder SYNCED_FROM at SYNCED_TO as a power failure would leave it. Written
 * bytes are copied when their file is flushed to the disk, changed and removed names when their folder is. The test makes the complete copy at the
 * beginning.
 */
const { SYNCED_FROM, SYNCED_TO } = process.env;
const root = resolve(SYNCED_FROM);
const plain = { ...fs };
/** Open and changed files by path; a renamed file keeps its entry. */
const files = new Map();
const descriptors = new Map();
/** Changes of names that wait for a flush of their folder, by folder. */
const names = new Map();

const isOurs = (path) => typeof path === 'string' && resolve(path).startsWith(`${root}/`);
const copyOf = (path) => join(SYNCED_TO, relative(root, path));

function fileAt(path) {
  const key = resolve(path);
  let file = files.get(key);
  if (file === undefined) {
    file = { path: key, ranges: [] };
    files.set(key, file);
  }
  return file;
}

function later(path, change) {
  const folder = dirname(path);
  names.set(folder, [...(names.get(folder) ?? []), change]);
}

function applyNames(folder) {
  for (const change of names.get(folder) ?? []) change();
  names.delete(folder);
}

function keep(file) {
  const stat = plain.statSync(file.path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory()) return applyNames(file.path);
  // A flushed file keeps its name, so earlier changes of names in its folder are applied too.
  applyNames(dirname(file.path));
  plain.mkdirSync(dirname(copyOf(file.path)), { recursive: true });
  const from = plain.openSync(file.path, 'r');
  const to = plain.openSync(copyOf(file.path), plain.constants.O_RDWR | plain.constants.O_CREAT, 0o600);
  for (const [position, length] of file.ranges) {
    const bytes = Buffer.alloc(length);
    const read = plain.readSync(from, bytes, 0, length, position);
    plain.writeSync(to, bytes, 0, read, position);
  }
  plain.ftruncateSync(to, stat.size);
  plain.closeSync(from);
  plain.closeSync(to);
  file.ranges = [];
}

fs.openSync = (path, ...rest) => {
  const descriptor = plain.openSync(path, ...rest);
  if (isOurs(path)) descriptors.set(descriptor, fileAt(path));
  return descriptor;
};
fs.closeSync = (descriptor) => {
  descriptors.delete(descriptor);
  plain.closeSync(descriptor);
};
fs.writeSync = (descriptor, buffer, offset, length, position) => {
  const written = plain.writeSync(descriptor, buffer, offset, length, position);
  descriptors.get(descriptor)?.ranges.push([position, written]);
  return written;
};
fs.writeFileSync = (path, data, ...rest) => {
  plain.writeFileSync(path, data, ...rest);
  if (isOurs(path)) fileAt(path).ranges.push([0, data.length]);
};
fs.mkdirSync = (path, ...rest) => {
  plain.mkdirSync(path, ...rest);
  if (isOurs(path)) plain.mkdirSync(copyOf(path), { recursive: true });
};
fs.renameSync = (from, to) => {
  plain.renameSync(from, to);
  if (!isOurs(to)) return;
  const file = fileAt(from);
  files.delete(file.path);
  file.path = resolve(to);
  files.set(file.path, file);
  later(file.path, () => {
    if (plain.existsSync(copyOf(from))) plain.renameSync(copyOf(from), copyOf(to));
  });
};
fs.unlinkSync = (path) => {
  plain.unlinkSync(path);
  if (!isOurs(path)) return;
  files.delete(resolve(path));
  later(resolve(path), () => plain.rmSync(copyOf(path), { force: true }));
};
for (const name of ['fsyncSync', 'fdatasyncSync']) {
  fs[name] = (descriptor) => {
    plain[name](descriptor);
    const file = descriptors.get(descriptor);
    if (file !== undefined) keep(file);
  };
}
syncBuiltinESMExports();
