import { readdir, readFile } from 'node:fs/promises';
import { DomainError } from '../../../../entities/ground/errors.ts';
import { wallTimesMax, watchProcessTime } from '../../../processes/process-time.ts';
import { killTied, spawnTied } from '../../../processes/tied-process.ts';

/** Starts a process that can open no file, reach no network and see nothing of ours. */
export interface Box {
  readonly command: string;
  readonly args: readonly string[];
  /** It starts no other processes, so its time is its own processor time. Default: the clock, which bounds all processes of a box. */
  readonly isOneProcess?: true;
}

export interface BoxLimits {
  readonly timeoutMs: number;
  readonly memoryMaxBytes: number;
}

export interface BoxOutputLimits {
  readonly outputMaxBytes: number;
  /** Processes at one time. Default: no limit, where the program cannot start any. */
  readonly processesMax?: number;
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
  { timeoutMs, memoryMaxBytes, outputMaxBytes, processesMax }: BoxLimits & BoxOutputLimits,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  const child = spawnTied(box.command, box.args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
  return new Promise((resolve, reject) => {
    const printedChunks: Buffer[] = [];
    let sizeBytes = 0;
    const end = (settle: () => void) => {
      stopClock();
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
      killTied(child);
      settle();
    };
    const fail = (message: string) => end(() => reject(new DomainError('INVALID_VALUE', message)));
    const onAbort = () => end(() => reject(signal.reason));
    const stopClock = startClock(box, child.pid, timeoutMs, (error) => end(() => reject(error)));
    const watch = setInterval(() => {
      usedBy(child.pid).then(
        ({ bytes, processes }) => {
          if (bytes > memoryMaxBytes) fail('The program was stopped: it took too much memory');
          // The box itself is three of them.
          if (processesMax !== undefined && processes > processesMax + 3)
            fail('The program was stopped: it started too many processes');
        },
        () => undefined,
      );
    }, lookEveryMs);
    signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', () => fail('The program could not be started'));
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (part: Buffer) => {
      sizeBytes += part.length;
      if (sizeBytes > outputMaxBytes) fail('The program was stopped: it printed too much');
      else printedChunks.push(part);
    });
    child.on('close', () => end(() => resolve(Buffer.concat(printedChunks))));
    child.stdin?.end(input);
  });
}

/** @returns what stops the clock. A machine that is too busy is not the program's fault. */
function startClock(
  { isOneProcess }: Box,
  pid: number | undefined,
  timeoutMs: number,
  onTimeout: (error: DomainError) => void,
): () => void {
  const toStopError = (reason: string) => new DomainError('INVALID_VALUE', `The program was stopped: it ${reason}`);
  if (isOneProcess !== true) {
    const clock = setTimeout(() => onTimeout(toStopError(`ran longer than ${timeoutMs} ms`)), timeoutMs);
    return () => clearTimeout(clock);
  }
  const wallMs = wallTimesMax * timeoutMs;
  return watchProcessTime(pid, timeoutMs, (cause) => {
    if (cause === 'USED') onTimeout(toStopError(`took more than ${timeoutMs} ms of processor time`));
    else if (cause === 'SLEPT') onTimeout(toStopError(`ran longer than ${wallMs} ms`));
    else onTimeout(new DomainError('OVERLOADED', `The machine was too busy to end the program in ${wallMs} ms; try again later`));
  });
}

interface Used {
  readonly bytes: number;
  readonly processes: number;
}

/** Resident memory, and number, of the process and its descendants, level by level. Each thread of a process may have started others. */
async function usedBy(pid: number | undefined): Promise<Used> {
  if (pid === undefined) return { bytes: 0, processes: 0 };
  const [statm, threads] = await Promise.all([readFile(`/proc/${pid}/statm`, 'utf8'), readdir(`/proc/${pid}/task`)]);
  const startTexts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  const children = startTexts.flatMap((line) => line.split(' ').filter(Boolean));
  const below = await Promise.all(children.map((child) => usedBy(Number(child)).catch(() => ({ bytes: 0, processes: 0 }))));
  return {
    bytes: below.reduce((sum, { bytes }) => sum + bytes, Number(statm.split(' ')[1]) * pageBytes),
    processes: below.reduce((sum, { processes }) => sum + processes, 1),
  };
}
