import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Whether tests run that take minutes. */
export const hasLongTests = process.env.LONG_TESTS === '1';

/** What stands for the last release until there is a tag: the newest migration of this commit is 78. */
const untagged = '2f330543';

/** The program of the last release, in a folder of its own. */
export interface LastRelease {
  /** A tag, or a commit. */
  readonly name: string;
  readonly main: string;
  readonly folder: string;
  remove(): Promise<void>;
}

/** Checks the last release out, and makes it ready to start. Takes minutes where it has other packages. @throws Error where git lacks it. */
export async function checkOutLastRelease(): Promise<LastRelease> {
  const git = (...words: readonly string[]) => run('git', words, { cwd: root });
  const { stdout: tags } = await git('tag', '--list', 'v*', '--sort=-creatordate', '--merged', 'HEAD');
  const name = tags.split('\n')[0]?.trim() || untagged;
  const parent = mkdtempSync(join(tmpdir(), 'parley-release-'));
  const folder = join(parent, 'parley');
  await git('worktree', 'add', '--detach', folder, name);
  const path = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`;
  const inFolder = { cwd: folder, env: { ...process.env, PATH: path, NODE_ENV: '' }, maxBuffer: 64 * 1024 * 1024 };
  const lock = (place: string) => readFileSync(join(place, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], inFolder);
  await run('npm', ['run', 'db:generate'], inFolder);
  return {
    name,
    folder,
    main: join(folder, 'src', 'main.js'),
    async remove() {
      await git('worktree', 'remove', '--force', folder).catch(() => undefined);
      rmSync(parent, { recursive: true, force: true });
      await git('worktree', 'prune');
    },
  };
}
