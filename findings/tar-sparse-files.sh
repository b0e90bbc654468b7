#!/usr/bin/env bash
# Files with holes in a tar archive, as `tar --sparse` and backup programs write disk images, databases and preallocated logs: none of three packages
# restores them, and none raises an error or a warning. Of a file with 1,000,003 bytes in the old form (the default of GNU tar), modern-tar 0.8.6
# and tar-stream 3.2.2 give the pieces one behind the other, 579 bytes, as if they were the file; tar 7.5.23 leaves the file out. In the form of
# pax all three give the pieces with a table of numbers in front, under a name that the maker of the archive never chose. tar-stream alone gives a hint:
# the type is null, or `pax` of the header names the real size. GNU tar restores both. So look for the type "S" and for `GNU.sparse` yourself.
# (It needs GNU tar to make the archives.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund modern-tar@0.8.6 tar-stream@3.2.2 tar@7.5.23 >/dev/null
node -e "
const { closeSync, openSync, writeSync } = require('node:fs');
const file = openSync('image.bin', 'w');
writeSync(file, 'START', 0);
writeSync(file, 'END', 1_000_000);
closeSync(file);"
for format in gnu pax; do tar --format="$format" --sparse --hole-detection=raw -cf "$format.tar" image.bin; done
cat >probe.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { unpackTar } from 'modern-tar';
import * as tar from 'tar';
import tarStream from 'tar-stream';

function list(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => [parentPath === folder, statSync(`${parentPath}/${name}`).size]);
}
const readers = {
  async 'GNU tar'(archive) {
    mkdirSync(`own-${archive}`);
    execFileSync('tar', ['-xf', archive, '-C', `own-${archive}`]);
    return list(`own-${archive}`);
  },
  'modern-tar': async (archive) => (await unpackTar(readFileSync(archive))).map(({ header, data }) => [header.name === 'image.bin', data.length]),
  async 'tar-stream'(archive) {
    const files = [];
    const extract = tarStream.extract();
    extract.end(readFileSync(archive));
    for await (const entry of extract) {
      let bytes = 0;
      for await (const chunk of entry) bytes += chunk.length;
      files.push([entry.header.name === 'image.bin', bytes]);
    }
    return files;
  },
  async tar(archive) {
    mkdirSync(`out-${archive}`);
    await tar.x({ file: archive, cwd: `out-${archive}`, onwarn: (code) => console.log(`tar warns: ${code}`) });
    return list(`out-${archive}`);
  },
};
const seen = [];
for (const archive of ['gnu.tar', 'pax.tar']) {
  for (const [name, read] of Object.entries(readers)) {
    const files = await read(archive);
    const said = files.map(([isNamed, bytes]) => `${bytes} bytes under ${isNamed ? 'its' : 'another'} name`).join(', ');
    console.log(`${archive}, ${name}: ${said || 'no file'}`);
    seen.push(files);
  }
}
const [whole, pieces, none, table] = [[[true, 1_000_003]], [[true, 579]], [], [[false, 1091]]];
if (JSON.stringify(seen) !== JSON.stringify([whole, pieces, pieces, none, whole, table, table, table])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in modern-tar tar-stream tar; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   gnu.tar, GNU tar: 1000003 bytes under its name
#   gnu.tar, modern-tar: 579 bytes under its name
#   gnu.tar, tar-stream: 579 bytes under its name
#   gnu.tar, tar: no file
#   pax.tar, GNU tar: 1000003 bytes under its name
#   pax.tar, modern-tar: 1091 bytes under another name
#   pax.tar, tar-stream: 1091 bytes under another name
#   pax.tar, tar: 1091 bytes under another name
