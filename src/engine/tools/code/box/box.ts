import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ProgramLimits, runProgram } from './program.ts';
import type { Box } from './run-in-box.ts';

const entry = fileURLToPath(new URL('./child.ts', import.meta.url));
const lib = fileURLToPath(new URL('../../../../lib/*', import.meta.url));
const none = { filesMaxBytes: 0, filesMax: 0, fileMaxBytes: 0, stateMaxBytes: 1_000 };
const probeLimits: ProgramLimits = { ...none, timeoutMs: 20_000, memoryMaxBytes: 1024 * 1024 * 1024 };
const probe = {
  ...({ kind: 'python', source: 'print(6 * 7)', files: [], variables: Buffer.alloc(0), environment: {} } as const),
  folder: '/workspace',
};

/**
 * Finds a sandbox of this machine: bubblewrap, else a network namespace of the kernel (`unshare`). Each is tried by running a program; undefined
 * when none works. In every box the process has an empty environment, and Node's permission model denies files, child processes and addons.
 */
export async function findBox(): Promise<Box | undefined> {
  for (const box of Object.values(boxes())) {
    const outcome = await runProgram(box, probe, probeLimits, new AbortController().signal).catch(() => undefined);
    if (outcome?.stdout === '42\n') return box;
  }
  return undefined;
}

/** The kinds of boxes, the best first. Whether a machine has one shows only when a program runs in it. */
export function boxes(bubblewrapPath = '/usr/bin/bwrap'): Readonly<Record<'bubblewrap' | 'unshare', Box>> {
  return { bubblewrap: bubblewrap(bubblewrapPath), unshare: namespace() };
}

function bubblewrap(command: string): Box {
  const system = ['/usr', '/lib', '/lib64', '/bin', '/sbin'].flatMap((path) => ['--ro-bind-try', path, path]);
  const own = [process.execPath, ...roots()].flatMap((path) => ['--ro-bind', path, path]);
  const walls = ['--unshare-all', '--die-with-parent', '--new-session', '--clearenv', '--proc', '/proc', '--dev', '/dev'];
  return { command, args: [...walls, ...system, ...own, '--', process.execPath, ...nodeArgs()] };
}

function namespace(): Box {
  return {
    command: '/usr/bin/unshare',
    args: ['--map-root-user', '--net', '--pid', '--fork', '--kill-child', process.execPath, ...nodeArgs()],
  };
}

function nodeArgs(): readonly string[] {
  const readable = roots().flatMap((root) => [`--allow-fs-read=${root}/node_modules/*`, `--allow-fs-read=${root}/package.json`]);
  return [
    '--permission',
    '--allow-worker',
    `--allow-fs-read=${dirname(entry)}/*`,
    `--allow-fs-read=${lib}`,
    ...readable,
    '--no-warnings',
    '--max-old-space-size=128',
    entry,
  ];
}

/** Folders of the packages, also when `node_modules` is a link, and of this code. */
function roots(): readonly string[] {
  const resolvedPath = createRequire(import.meta.url).resolve('csv-parse');
  const packages = resolvedPath.slice(0, resolvedPath.lastIndexOf(`${sep}node_modules${sep}`));
  const own = fileURLToPath(new URL('../../../../..', import.meta.url)).replace(/[\\/]$/, '');
  return [...new Set([packages, own])];
}
