import { readFileSync } from 'node:fs';
import { Bash } from 'just-bash';
import { decodeFrame, encodeFrame, splitParts } from '../../../../lib/frame.ts';
import type { Program, ProgramLimits } from './program.ts';

/**
 * Reads a program, its files and its variables from standard input, runs it, and writes what it printed and made to standard output. Runs only
 * in the box: see box.ts. The file system is one in memory; nothing here opens a file of the machine but its own code.
 */
interface Request extends Pick<Program, 'kind' | 'source' | 'environment' | 'folder'> {
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[];
  readonly variablesBytes: number;
  readonly limits: ProgramLimits;
}

const workspace = '/workspace';
const own = '/run/parley';
const printedMax = 100_000;
const pathLengthMax = 400;
const environmentMax = 64_000;
/** Entries that are looked at; a program can make more of them than anybody wants. */
const entriesMax = 5_000;
/** Variables of the shell that describe the shell itself. */
const ownVariables =
  /^(?:_|\?|PWD|OLDPWD|OPTIND|IFS|SHELLOPTS|BASHOPTS|PATH|HOME|OSTYPE|MACHTYPE|HOSTTYPE|HOSTNAME|BASH.*|PIPESTATUS)$/;

const input: Buffer[] = [];
for await (const part of process.stdin) input.push(part as Buffer);
const frame = decodeFrame(Buffer.concat(input));
const { kind, source, files, variablesBytes, environment, folder, limits } = frame.header as unknown as Request;
const parts = splitParts(frame.body, [...files.map(({ sizeBytes }) => sizeBytes), variablesBytes]);
const givenBytes = new Map(files.map(({ path }, index) => [path, parts[index] ?? Buffer.alloc(0)]));

const shell = new Bash({
  python: true,
  cwd: workspace,
  executionLimits: {
    maxPythonTimeoutMs: limits.timeoutMs,
    maxExecutionTimeMs: limits.timeoutMs,
    maxFileSystemBytes: Math.floor(limits.memoryMaxBytes / 4),
    maxOutputSize: 4 * 1024 * 1024,
  },
});
const { fs } = shell;
// Writing a file makes its folders.
for (const [path, bytes] of givenBytes) await fs.writeFile(`${workspace}/${path}`, new Uint8Array(bytes));
await fs.writeFile(`${own}/lib/plot.py`, readFileSync(new URL('./plot.py', import.meta.url)));

const notes: string[] = [];
const ran = kind === 'python' ? await runPython() : await runShell();
const collection = await collect();
const header = {
  stdout: cutEnd(ran.stdout),
  stderr: ran.stderr.length > printedMax ? `[…]${ran.stderr.slice(-printedMax)}` : ran.stderr,
  exitCode: ran.exitCode,
  files: collection.files.map(({ path, bytes }) => ({ path, sizeBytes: bytes.length })),
  removed: collection.removed,
  notes,
  variablesBytes: ran.variables.length,
  environment: ran.environment,
  folder: ran.folder,
};
process.stdout.write(encodeFrame(header, [...collection.files.map(({ bytes }) => bytes), ran.variables]), () => process.exit(0));

async function runPython() {
  await fs.writeFile(`${own}/main.py`, readFileSync(new URL('./main.py', import.meta.url)));
  await fs.writeFile(`${own}/code.py`, source);
  await fs.writeFile(`${own}/limits.json`, JSON.stringify({ stateMaxBytes: limits.stateMaxBytes }));
  await fs.writeFile(`${own}/state`, new Uint8Array(parts.at(-1) ?? []));
  const result = await shell.exec(`python3 ${own}/main.py`);
  const variables = await readBytes(`${own}/state.new`, limits.stateMaxBytes);
  const noteBytes = await readBytes(`${own}/notes.json`, 100_000);
  if (noteBytes !== undefined) noteVariables(noteBytes);
  return { ...result, variables: variables ?? Buffer.alloc(0), environment, folder };
}

async function runShell() {
  const isThere = (await fs.exists(folder)) && (await fs.stat(folder)).isDirectory;
  const result = await shell.exec(source, { env: { ...environment }, cwd: isThere ? folder : workspace });
  const keptVariables = Object.entries(result.env).filter(([name]) => /^\w+$/.test(name) && !ownVariables.test(name));
  const isSmall = JSON.stringify(keptVariables).length <= environmentMax;
  if (!isSmall) notes.push('The variables of the shell are too large and were not kept.');
  return {
    ...result,
    variables: Buffer.from(parts.at(-1) ?? []),
    environment: isSmall ? Object.fromEntries(keptVariables) : {},
    folder: String(result.env.PWD ?? workspace).slice(0, pathLengthMax),
  };
}

function noteVariables(noteBytes: Buffer): void {
  try {
    const { lost: lostNames, forgotten } = JSON.parse(noteBytes.toString()) as {
      readonly lost: string[];
      readonly forgotten: string[];
    };
    if (forgotten.length > 0) notes.push(`Variables of earlier calls that could not be read again: ${forgotten.join(', ')}.`);
    if (lostNames.length > 0) notes.push(`Variables that cannot be kept for the next call: ${lostNames.join(', ')}.`);
  } catch {
    // The program wrote over the notes: they concern nobody but itself.
  }
}

async function readBytes(path: string, bytesMax: number): Promise<Buffer | undefined> {
  if (!(await fs.exists(path))) return undefined;
  const { isFile, size } = await fs.lstat(path);
  return isFile && size <= bytesMax ? Buffer.from(await fs.readFileBuffer(path)) : undefined;
}

/** The files that were written or changed, within the limits; what lies beyond them is named in the notes. */
async function collect() {
  const collectedFiles: { path: string; bytes: Buffer }[] = [];
  const present = new Set<string>();
  const leftPaths: string[] = [];
  let sizeBytes = 0;
  let entries = 0;
  const walk = async (at: string): Promise<void> => {
    for (const name of [...(await fs.readdir(`${workspace}${at}`))].sort()) {
      entries += 1;
      if (entries > entriesMax) return;
      const path = `${at}/${name}`;
      const about = await fs.lstat(`${workspace}${path}`);
      if (about.isDirectory) {
        if (name !== '__pycache__') await walk(path);
        continue;
      }
      const plain = path.slice(1);
      if (!about.isFile || plain.length > pathLengthMax) {
        leftPaths.push(`${plain} (not a plain file)`);
        continue;
      }
      present.add(plain);
      const before = givenBytes.get(plain);
      if (about.size > limits.fileMaxBytes) {
        leftPaths.push(`${plain} (larger than ${limits.fileMaxBytes} bytes)`);
        continue;
      }
      const bytes = Buffer.from(await fs.readFileBuffer(`${workspace}${path}`));
      if (before?.equals(bytes) === true) continue;
      if (collectedFiles.length >= limits.filesMax || sizeBytes + bytes.length > limits.filesMaxBytes) {
        leftPaths.push(`${plain} (more files than one call may make)`);
        continue;
      }
      sizeBytes += bytes.length;
      collectedFiles.push({ path: plain, bytes });
    }
  };
  await walk('');
  if (entries > entriesMax) notes.push(`Only ${entriesMax} entries of ${workspace} were looked at.`);
  if (leftPaths.length > 0)
    notes.push(
      `Not kept: ${leftPaths
        .slice(0, 20)
        .map((each) => JSON.stringify(each))
        .join(', ')}.`,
    );
  return {
    files: collectedFiles,
    removed: entries > entriesMax ? [] : [...givenBytes.keys()].filter((path) => !present.has(path)),
  };
}

function cutEnd(text: string): string {
  return text.length > printedMax ? `${text.slice(0, printedMax)}\n[… the rest was cut]` : text;
}
