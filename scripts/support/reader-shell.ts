import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Pasted {
  /** Of the last command that failed, also within a pipe; 0 when none did. */
  readonly code: number;
  /** Both outputs. */
  readonly output: string;
  readonly seconds: number;
}

/** A bash into which blocks are pasted one after the other: variables and functions stay, as in the terminal of a reader. */
export class ReaderShell {
  readonly #bash: ChildProcess;
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-reader-'));
  #output = '';
  #pasted = 0;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    // A process group of its own: what a block leaves behind ends with the shell.
    this.#bash = spawn('bash', ['--norc'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
    this.#bash.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#output += chunk;
    });
    this.#bash.stdin?.on('error', () => undefined);
    this.#bash.stdin?.write("exec 2>&1; set -E -o pipefail; trap 'failed=$?' ERR\n");
  }

  /** @throws Error with the output so far when the block takes longer, or ends the shell. */
  async paste(text: string, timeoutMs = 100_000): Promise<Pasted> {
    const file = join(this.#folder, `${++this.#pasted}.sh`);
    writeFileSync(file, text);
    const marker = randomUUID();
    const ended = new RegExp(`\\n${marker} (\\d+)\\n`);
    const begunMs = performance.now();
    this.#output = '';
    // A command of the block that reads its input must not read the next block.
    this.#bash.stdin?.write(`failed=0; source '${file}' </dev/null; echo; echo "${marker} $failed"\n`);
    const found = await this.#until(ended, timeoutMs);
    return { code: Number(found[1]), output: this.#output.slice(0, found.index), seconds: (performance.now() - begunMs) / 1_000 };
  }

  /** Ends the shell and everything that was started in it. */
  close(): void {
    if (this.#bash.pid !== undefined && this.#bash.exitCode === null) process.kill(-this.#bash.pid, 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #until(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const stop = (reason: string) => {
        done();
        reject(new Error(`${reason}\n${this.#output}`));
      };
      const look = () => {
        const found = pattern.exec(this.#output);
        if (found === null) return;
        done();
        resolve(found);
      };
      const end = () => stop('the block ended its shell');
      const timer = setTimeout(() => stop(`the block takes longer than ${timeoutMs / 1_000} s`), timeoutMs);
      const done = () => {
        clearTimeout(timer);
        this.#bash.stdout?.off('data', look);
        this.#bash.off('close', end);
      };
      this.#bash.stdout?.on('data', look);
      this.#bash.once('close', end);
    });
  }
}
