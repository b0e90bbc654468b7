import { readFile } from 'node:fs/promises';
import { DomainError } from '../../../../entities/errors.ts';
import { killTied, spawnTied } from '../../../processes/tied-process.ts';

/** Starts a process that can open no file, reach no network and see nothing of ours. */
export interface Box {
  readonly command: string;
  readonly args: readonly string[];
}

export interface BoxLimits {
  readonly timeoutMs: number;
  readonly memoryMaxBytes: number;
}

const lookEveryMs = 50;
const pageBytes = 4_096;

/**
 * Runs a process in the box, gives it bytes on standard input, and returns what it wrote to standard output.
 *
 * @throws DomainError when it exceeds its time, memory or output; the signal's reason. The process is killed then.
 */
export async function runInBox(
  box: Box,
  input: Buffer,
  { timeoutMs, memoryMaxBytes, outputMaxBytes }: BoxLimits & { readonly outputMaxBytes: number },
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  const child = spawnTied(box.command, box.args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
  return new Promise((resolve, reject) => {
    const printed: Buffer[] = [];
    let sizeBytes = 0;
    const end = (settle: () => void) => {
      clearTimeout(clock);
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
      killTied(child);
      settle();
    };
    const fail = (message: string) => end(() => reject(new DomainError('INVALID_VALUE', message)));
    const onAbort = () => end(() => reject(signal.reason));
    const clock = setTimeout(() => fail(`The program was stopped: it ran longer than ${timeoutMs} ms`), timeoutMs);
    const watch = setInterval(() => {
      memoryOf(child.pid).then(
        (bytes) => bytes > memoryMaxBytes && fail('The program was stopped: it took too much memory'),
        () => undefined,
      );
    }, lookEveryMs);
    signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', () => fail('The program could not be started'));
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (part: Buffer) => {
      sizeBytes += part.length;
      if (sizeBytes > outputMaxBytes) fail('The program was stopped: it printed too much');
      else printed.push(part);
    });
    child.on('close', () => end(() => resolve(Buffer.concat(printed))));
    child.stdin?.end(input);
  });
}

/** Resident memory of the process and its descendants, level by level. */
async function memoryOf(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const [statm, children] = await Promise.all([
    readFile(`/proc/${pid}/statm`, 'utf8'),
    readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
  ]);
  const own = Number(statm.split(' ')[1]) * pageBytes;
  const below = await Promise.all(
    children
      .split(' ')
      .filter(Boolean)
      .map((child) => memoryOf(Number(child)).catch(() => 0)),
  );
  return below.reduce((sum, bytes) => sum + bytes, own);
}
