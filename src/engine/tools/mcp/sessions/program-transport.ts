import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { killTied, spawnTied } from '../../../processes/tied-process.ts';
import type { ProgramEndpoint } from '../endpoint.ts';

export interface ProgramOptions {
  /** `PATH` of the service: the only variable that a program gets without being given it. */
  readonly path: string | undefined;
  /** Longest line of its output. */
  readonly lineBytesMax: number;
  /** Gets the lines of its standard error. */
  readonly onLog: (line: string) => void;
}

/** A program gets this long to end by itself when its input is closed. */
const endingMs = 1_000;
/** What a program has not read yet of its input. */
const unreadBytesMax = 32 * 1024 * 1024;
const logLineMax = 2_000;

/**
 * Speaks MCP with a program of this machine: one message a line. The program gets no environment but its own and PATH, and never outlives
 * the service. It is killed with everything that it started. The SDK's transport hands on HOME, USER and others, kills the program alone, and leaves
 * it behind when the service is killed.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #endpoint: ProgramEndpoint;
  readonly #options: ProgramOptions;
  #child: ChildProcess | undefined;
  #isOver = false;

  constructor(endpoint: ProgramEndpoint, options: ProgramOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#endpoint;
    const { path } = this.#options;
    const child = spawnTied(command, args, {
      env: { ...(path === undefined ? {} : { PATH: path }), ...env },
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.on('error', (error) => this.#end(error));
    child.once('exit', () => this.#end());
    child.stdin?.on('error', () => undefined);
    if (child.stdout !== null) this.#readLines(child.stdout, this.#options.lineBytesMax, (line) => this.#take(line), true);
    if (child.stderr !== null) this.#readLines(child.stderr, logLineMax, (line) => this.#log(line), false);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin as Writable | null | undefined;
    if (this.#isOver || input === null || input === undefined || !input.writable) throw new Error('the program has ended');
    if (input.writableLength > unreadBytesMax) throw new Error('the program does not read its input');
    input.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isOver) return this.#end();
    const exitEvent = once(child, 'exit');
    child.stdin?.end();
    const timer = new AbortController();
    await Promise.race([exitEvent, wait(endingMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    this.#end();
  }

  #end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Also when its leader has ended: what it started may still be there.
    if (this.#child !== undefined) killTied(this.#child);
    if (error !== undefined) this.onerror?.(error);
    this.onclose?.();
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      // Many programs print something else, too.
      this.#options.onLog(`(on standard output) ${line.slice(0, logLineMax)}`);
      return;
    }
    this.onmessage?.(message);
  }

  #log(line: string): void {
    if (line.trim() !== '') this.#options.onLog(line);
  }

  /** @param isStrict  a longer line ends the program; else the line is cut. */
  #readLines(stream: Readable, bytesMax: number, take: (line: string) => void, isStrict: boolean): void {
    let parts: Buffer[] = [];
    let length = 0;
    const add = (part: Buffer) => {
      const room = bytesMax - length;
      if (isStrict && part.length > room) {
        stream.removeAllListeners('data').resume();
        this.#end(new Error(`the program wrote a line of more than ${bytesMax} bytes`));
      } else if (room > 0) {
        parts.push(part.subarray(0, room));
        length += Math.min(part.length, room);
      }
    };
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0 && !this.#isOver; end = chunk.indexOf(10, start)) {
        add(chunk.subarray(start, end));
        start = end + 1;
        if (this.#isOver) return;
        take(Buffer.concat(parts).toString('utf8'));
        parts = [];
        length = 0;
      }
      if (start < chunk.length) add(chunk.subarray(start));
    });
    stream.on('end', () => {
      if (!isStrict && length > 0) take(Buffer.concat(parts).toString('utf8'));
    });
  }
}
