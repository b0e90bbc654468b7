import { packTar, unpackTar } from 'modern-tar';
import { DomainError } from '../../../../entities/ground/errors.ts';
import type { Program, ProgramLimits, ProgramOutcome, WorkspaceFile } from './program.ts';
import { runInBox } from './run-in-box.ts';

/** The bash and the tools of this machine, in a box. */
export interface RealShell {
  /** Of those that not every machine has. */
  readonly tools: readonly string[];
}

const workspace = 'workspace';
const own = 'run/parley';
const printedMax = 100_000;
const pathLengthMax = 400;
const environmentMax = 64_000;
const entriesMax = 5_000;
/** Processes and threads at one time. The kernel refuses more; Node looks, too. */
const processesMax = 64;
const openFilesMax = 256;
/** What is printed is written to files of the box first. */
const ownBytes = 40 * 1024 * 1024;
const printedBytesMax = 16 * 1024 * 1024;
const temporaryBytes = 64 * 1024 * 1024;
/** Variables that describe the shell itself, or change by themselves. */
const ownVariables =
  /^(?:_|\?|PWD|OLDPWD|OPTIND|OPTERR|IFS|SHELLOPTS|PATH|HOME|LANG|SHLVL|SHELL|PPID|E?UID|GROUPS|LINENO|RANDOM|SRANDOM|SECONDS|PS4|TERM|OSTYPE|MACHTYPE|HOSTTYPE|HOSTNAME|HISTCMD|DIRSTACK|FUNCNAME|PIPESTATUS|EPOCH\w*|COMP_\w*|BASH\w*|__parley\w*)$/;
/** Without these a shell is of little use. */
const neededPrograms = ['bash', 'tar', 'sed', 'awk', 'grep', 'sort', 'find', 'head', 'wc'];
const optional = ['python3', 'jq', 'bc', 'diff', 'gzip', 'xz', 'zip', 'unzip', 'file', 'perl'];

/**
 * Finds bubblewrap with the usual tools of this machine, by running them. Undefined where one of them is missing: the shell is simulated then.
 */
export async function findRealShell(): Promise<RealShell | undefined> {
  const source = `for t in ${neededPrograms.join(' ')}; do command -v "$t" >/dev/null || exit 1; done; for t in ${optional.join(' ')}; do command -v "$t" >/dev/null && echo "$t"; done; [ $((6 * 7 << 40)) = 46179488366592 ] && [ "$(ulimit -u)" = ${processesMax} ]`;
  // Where the number of processes cannot be bounded, a program could take all of the machine: there is no real shell then.
  const limits = {
    filesMaxBytes: 0,
    filesMax: 0,
    fileMaxBytes: 0,
    stateMaxBytes: 0,
    timeoutMs: 20_000,
    memoryMaxBytes: 1024 ** 3,
  };
  const program = {
    source,
    files: [],
    variables: Buffer.alloc(0),
    environment: {},
    folder: '/workspace',
    kind: 'shell',
  } as const;
  const probeOutcome = await runInRealShell(program, limits, new AbortController().signal).catch(() => undefined);
  return probeOutcome?.exitCode === 0 ? { tools: probeOutcome.stdout.split('\n').filter(Boolean) } : undefined;
}

/**
 * Runs a program of the shell with the tools of this machine. The box has the programs of `/usr`, read-only, and folders in memory of bounded size;
 * no environment, network, other files, rights or processes of the machine. Files go in and out as an archive, so the program writes nothing on the
 * machine.
 *
 * @throws DomainError when it exceeds its time, memory, processes or output; the signal's reason.
 */
export async function runInRealShell(program: Program, limits: ProgramLimits, signal: AbortSignal): Promise<ProgramOutcome> {
  const input = await packTar([
    entry(`${own}/before`, Buffer.from(writePreamble(program))),
    entry(`${own}/command`, Buffer.from(program.source)),
    ...program.files.map(({ path, bytes }) => entry(`${workspace}/${path}`, bytes)),
  ]);
  const workspaceBytes = 2 * limits.filesMaxBytes + 8 * 1024 * 1024;
  const outputMaxBytes = workspaceBytes + entriesMax * 1_536 + 1_000_000;
  const [command = '', ...args] = [
    ...asNobody(),
    '/usr/bin/bwrap',
    ...walls(workspaceBytes),
    '--',
    '/bin/bash',
    '-c',
    writeDriver(limits),
  ];
  const box = { command, args };
  const output = await runInBox(box, Buffer.from(input), { ...limits, outputMaxBytes, processesMax }, signal);
  let read: Awaited<ReturnType<typeof unpackTar>>;
  try {
    read = await unpackTar(output);
  } catch {
    throw new DomainError('INVALID_VALUE', 'The program ended without an answer: it may have taken too much memory');
  }
  return collectOutcome(read, program, limits);
}

/** The kernel bounds the processes of every user but root: a service that is root runs the box as nobody, or has no real shell. */
function asNobody(): readonly string[] {
  const nobody = '65534';
  if (process.getuid?.() !== 0) return [];
  return ['/usr/bin/setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--no-new-privs', '--'];
}

function entry(name: string, body: Buffer) {
  return { header: { name, size: body.length, mode: 0o644, type: 'file' as const }, body: new Uint8Array(body) };
}

function walls(workspaceBytes: number): readonly string[] {
  const system = ['/usr', '/lib', '/lib64', '/bin', '/sbin', '/etc/alternatives'].flatMap((path) => [
    '--ro-bind-try',
    path,
    path,
  ]);
  const memory = (path: string, bytes: number) => ['--size', String(bytes), '--tmpfs', path];
  return [
    ...[
      '--unshare-all',
      '--unshare-user',
      '--disable-userns',
      '--die-with-parent',
      '--new-session',
      '--clearenv',
      '--cap-drop',
      'ALL',
    ],
    ...[...system, '--proc', '/proc', '--dev', '/dev', ...memory('/dev/shm', 1024 * 1024)],
    ...[...memory('/workspace', workspaceBytes), ...memory('/tmp', temporaryBytes), ...memory('/run/parley', ownBytes)],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/workspace'],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--setenv', 'HOME', '/workspace', '--setenv', 'LANG', 'C.UTF-8'],
  ];
}

/** Unpacks the files, runs the program, and packs what it printed and made. */
function writeDriver({ memoryMaxBytes, timeoutMs }: ProgramLimits): string {
  const blocks = Math.ceil(printedBytesMax / 1024);
  return [
    `ulimit -c 0 -f ${blocks} -v ${Math.floor(memoryMaxBytes / 1024)} -u ${processesMax} -n ${openFilesMax} -t ${Math.ceil(timeoutMs / 1_000)}`,
    'tar -xf - -C / --no-same-owner --no-same-permissions 2>/dev/null',
    `BASH_ENV=/${own}/before bash /${own}/command </dev/null >/${own}/out 2>/${own}/err`,
    `__s=$?; cd /; echo $__s >/${own}/status`,
    `head -c ${2 * printedMax} ${own}/out >${own}/stdout; tail -c ${2 * printedMax} ${own}/err >${own}/stderr; rm -f ${own}/out ${own}/err`,
    `exec tar -cf - --hard-dereference --exclude=__pycache__ ${own} ${workspace} 2>/dev/null`,
  ].join('\n');
}

/** What runs before the program in its own shell: variables and folder of the program before, and a trap that keeps those of this one. */
function writePreamble({ environment, folder }: Program): string {
  const variables = Object.entries(environment).filter(([name]) => /^[A-Za-z_]\w*$/.test(name) && !ownVariables.test(name));
  return [
    'unset BASH_ENV',
    ...variables.map(([name, value]) => `export ${name}=${quoted(value)}`),
    `cd -- ${quoted(folder)} 2>/dev/null || cd /workspace`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these are variables of the shell.
    '__parley_end() { set +eu; pwd >/run/parley/folder; compgen -v | while IFS= read -r __parley; do [[ ${!__parley@a} == *[aA]* ]] || printf \'%s=%s\\0\' "$__parley" "${!__parley-}"; done >/run/parley/env; } 2>/dev/null',
    'trap __parley_end EXIT',
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}

/** The box has run foreign code, so what it packed is checked like foreign data. */
function collectOutcome(entries: Awaited<ReturnType<typeof unpackTar>>, program: Program, limits: ProgramLimits): ProgramOutcome {
  const texts = new Map<string, string>();
  const givenBytes = new Map(program.files.map(({ path, bytes }) => [path, bytes]));
  const present = new Set<string>();
  const files: WorkspaceFile[] = [];
  const leftPaths: string[] = [];
  const notes: string[] = [];
  let sizeBytes = 0;
  for (const { header, data } of entries.slice(0, entriesMax)) {
    const { name, type } = header;
    if (type === 'directory') continue;
    if (name.startsWith(`${own}/`)) {
      if (type === 'file') texts.set(name.slice(own.length + 1), Buffer.from(data ?? []).toString());
      continue;
    }
    const path = name.slice(workspace.length + 1);
    if (!name.startsWith(`${workspace}/`) || !isPlainPath(path) || type !== 'file') {
      leftPaths.push(`${path} (not a plain file)`);
      continue;
    }
    present.add(path);
    const bytes = Buffer.from(data ?? []);
    if (givenBytes.get(path)?.equals(bytes) === true) continue;
    if (bytes.length > limits.fileMaxBytes) leftPaths.push(`${path} (larger than ${limits.fileMaxBytes} bytes)`);
    else if (files.length >= limits.filesMax || sizeBytes + bytes.length > limits.filesMaxBytes) {
      leftPaths.push(`${path} (more files than one call may make)`);
    } else {
      sizeBytes += bytes.length;
      files.push({ path, bytes });
    }
  }
  const isWhole = entries.length <= entriesMax;
  if (!isWhole) notes.push(`Only ${entriesMax} entries of /workspace were looked at.`);
  const shownPaths = leftPaths.slice(0, 20).map((each) => JSON.stringify(each));
  if (leftPaths.length > 0) notes.push(`Not kept: ${shownPaths.join(', ')}.`);
  const keptEnvironment = environmentIn(texts.get('env'));
  const isSmall = JSON.stringify(keptEnvironment ?? {}).length <= environmentMax;
  if (!isSmall) notes.push('The variables of the shell are too large and were not kept.');
  const folder = texts.get('folder')?.trimEnd();
  return {
    stdout: cutEnd(texts.get('stdout') ?? ''),
    stderr: cutStart((texts.get('stderr') ?? '').replaceAll(`/${own}/command: `, 'bash: ')),
    exitCode: Number(texts.get('status') ?? 1),
    files: files.sort((one, other) => (one.path < other.path ? -1 : 1)),
    removed: isWhole ? [...givenBytes.keys()].filter((path) => !present.has(path)) : [],
    notes,
    variables: program.variables,
    // A program that sets a trap of its own, or is killed, leaves what was there before it.
    environment: isSmall ? (keptEnvironment ?? program.environment) : {},
    folder: folder === undefined || folder === '' ? program.folder : folder.slice(0, pathLengthMax),
  };
}

function environmentIn(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split('\0').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    return at > 0 && /^[A-Za-z_]\w*$/.test(name) && !ownVariables.test(name) ? [[name, pair.slice(at + 1)]] : [];
  });
  return Object.fromEntries(pairs);
}

function isPlainPath(path: string): boolean {
  return path.length <= pathLengthMax && !path.split('/').some((part) => part === '' || part === '.' || part === '..');
}

function cutEnd(text: string): string {
  return text.length > printedMax ? `${text.slice(0, printedMax)}\n[… the rest was cut]` : text;
}

function cutStart(text: string): string {
  return text.length > printedMax ? `[…]${text.slice(-printedMax)}` : text;
}
