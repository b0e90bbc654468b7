import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { checkService } from './check-service.ts';
import { copiesOf, instructionsOf } from './dockerfile.ts';

/**
 * Does the steps of the Dockerfile in an empty folder, without Docker: `npm run deploy:check`. Measures what they install, starts what comes out
 * and asks for its health. A missing file or package, or one that was trimmed too much, ends it with an error. Needs the package registry.
 */
const sizeMaxMb = 400;
const flags = ['--max-semi-space-size=32', '--max-old-space-size=2000'];
const root = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'parley-image-'));
try {
  const image = build();
  const sizeMb = Number(execFileSync('du', ['-sm', image], { encoding: 'utf8' }).split('\t')[0]);
  console.log(`${sizeMb} MB in /app (at most ${sizeMaxMb})`);
  if (sizeMb > sizeMaxMb) throw new Error('the image is too large');
  await checkService(process.execPath, [...flags, 'src/main.js'], image, join(work, 'data'));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Each stage is a folder by its name. @returns the folder of the last one, which has none. */
function build(): string {
  const image = join(work, 'image');
  let stage = image;
  for (const { name, rest } of instructionsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    if (name === 'FROM') stage = join(work, / AS (\w+)$/.exec(rest)?.[1] ?? 'image');
    mkdirSync(stage, { recursive: true });
    if (name === 'COPY') {
      for (const { from, to, stage: earlier } of copiesOf(rest)) {
        const source = earlier === undefined ? join(root, from) : join(work, earlier, from.replace(/^\/app\//, ''));
        mkdirSync(dirname(join(stage, to)), { recursive: true });
        cpSync(source, join(stage, to), { recursive: true, filter: (path) => !isLeftOut(path) });
      }
    }
    // What else is run prepares folders of the image.
    if (name === 'RUN' && stage !== image) {
      console.log(`RUN ${rest}`);
      execFileSync('sh', ['-c', rest], { cwd: stage, stdio: 'inherit' });
    }
  }
  return image;
}

/** As .dockerignore says. */
function isLeftOut(path: string): boolean {
  const here = relative(root, path);
  return /generated\/models/.test(path) || /^console\/(?:dist|node_modules)/.test(here);
}
