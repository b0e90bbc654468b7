import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import type { ReserveFile } from './reserve-file.ts';

export interface DurableFilesOptions {
  readonly folder: string;
  /** Files and folders that are on the disk as they are. */
  readonly flushedPaths: readonly string[];
  /** Given up for the database's own log and state when the disk has no room for them. */
  readonly reserveFile: ReserveFile;
  /** Called when a write found no room, before its error reaches the database. */
  readonly onFull: () => void;
  /** Called when PostgreSQL gives up (PANIC). It must not be asked anything after that. */
  readonly onAbort: () => void;
}

/** Errors of the emscripten file system: no space, quota exceeded. */
const fullErrnos: readonly unknown[] = [51, 19];

/**
 * The files of the embedded database, with what PGlite's own file system lacks: `fsync`, and room for the log on a full disk.
 *
 * A commit asks for the log (`pg_wal`) to be written to the disk. That request is only noted; `sync` does it once for all commits since the
 * last one, and the caller holds back their replies until then. Any other change of a file does it first, so that the log is always on the
 * disk before the change that it describes.
 */
export class DurableFiles extends NodeFS {
  readonly #options: DurableFilesOptions;
  /** Paths of log files whose last bytes are not on the disk yet. */
  readonly #unsynced = new Set<string>();
  /** What a start need not flush: PostgreSQL asks for every file of a folder that it takes for a crashed one, 1.5 ms each. */
  readonly #flushed: Set<string>;
  #logBytes = 0;

  constructor(options: DurableFilesOptions) {
    super(options.folder);
    this.#options = options;
    this.#flushed = new Set(options.flushedPaths);
  }

  override async init(pg: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
    const setup = await super.init(pg, options);
    const { emscriptenOpts } = setup;
    const patch = (module: { readonly FS: unknown }) => {
      this.#patch((module.FS as { readonly filesystems: { readonly NODEFS: NodeFiles } }).filesystems.NODEFS);
    };
    return {
      emscriptenOpts: { ...emscriptenOpts, onAbort: this.#options.onAbort, preRun: [...(emscriptenOpts.preRun ?? []), patch] },
    };
  }

  /** Whether a commit waits for the disk. */
  get isUnsynced(): boolean {
    return this.#unsynced.size > 0;
  }

  /** Bytes written to the log since `resetLogBytes`. */
  get logBytes(): number {
    return this.#logBytes;
  }

  resetLogBytes(): void {
    this.#logBytes = 0;
  }

  /** Writes the log to the disk. @throws Error when the disk fails: what was not acknowledged must not be acknowledged any more. */
  sync(): void {
    for (const path of this.#unsynced) {
      const file = openSync(path, 'r+');
      try {
        fdatasyncSync(file);
      } finally {
        closeSync(file);
      }
    }
    this.#unsynced.clear();
  }

  #patch(files: NodeFiles): void {
    const streams = files.stream_ops;
    const nodes = files.node_ops;
    const { write } = streams;
    streams.write = (stream, buffer, offset, length, position) => {
      const path = files.realPath(stream.node);
      const isLog = isLogFile(path);
      if (isLog) this.#logBytes += length;
      else this.sync();
      this.#flushed.delete(path);
      const isVital = isVitalFile(path);
      let writtenBytes = 0;
      // A disk without room may take a part; the database takes that for the end of its log.
      do {
        const part = () => write(stream, buffer, offset + writtenBytes, length - writtenBytes, position + writtenBytes);
        writtenBytes += this.#withRoom(part, isVital);
      } while (isVital && writtenBytes < length);
      return writtenBytes;
    };
    streams.fsync = (stream) => {
      const path = files.realPath(stream.node);
      if (isLogFile(path)) this.#unsynced.add(path);
      else if (!this.#flushed.has(path)) {
        this.sync();
        flush(stream.nfd);
      }
      return 0;
    };
    const { setattr } = streams;
    streams.setattr = (stream, attributes) => {
      this.sync();
      this.#flushed.delete(files.realPath(stream.node));
      setattr(stream, attributes);
    };
    for (const name of changingOperations) {
      const change = nodes[name];
      nodes[name] = (node, ...args) => {
        this.sync();
        this.#forgetFlushed(files, [node, ...args]);
        return this.#withRoom(() => change(node, ...args), isVitalFile(files.realPath(node)));
      };
    }
  }

  /** What a change of names concerns: the nodes that it names, a folder for most of them, and the names in these folders. */
  #forgetFlushed(files: NodeFiles, changeArguments: readonly unknown[]): void {
    if (this.#flushed.size === 0) return;
    const paths = changeArguments.filter((value) => isFileNode(value)).map((node) => files.realPath(node));
    const names = changeArguments.filter((value) => typeof value === 'string');
    for (const path of paths) {
      for (const changedPath of [path, dirname(path), ...names.map((name) => join(path, name))])
        this.#flushed.delete(changedPath);
    }
  }

  /** Tries once more in the room of the ballast. */
  #withRoom<T>(write: () => T, isVital: boolean): T {
    try {
      return write();
    } catch (error) {
      if (!isFull(error)) throw error;
      this.#options.onFull();
      if (!isVital || !this.#options.reserveFile.release()) throw error;
      return write();
    }
  }
}

/** What PGlite's file system of Node lets be replaced. */
interface NodeFiles {
  realPath(node: FileNode): string;
  readonly stream_ops: {
    write(stream: FileStream, buffer: Uint8Array, offset: number, length: number, position: number): number;
    setattr(stream: FileStream, attributes: unknown): void;
    fsync?: (stream: FileStream) => number;
  };
  readonly node_ops: Record<(typeof changingOperations)[number], (node: FileNode, ...args: readonly unknown[]) => unknown>;
}
type FileNode = Readonly<Record<string, unknown>>;
interface FileStream {
  readonly node: FileNode;
  /** The descriptor of the operating system. */
  readonly nfd: number;
}

const changingOperations = ['mknod', 'rename', 'unlink', 'rmdir', 'symlink', 'setattr'] as const;

function isFileNode(value: unknown): value is FileNode {
  return typeof value === 'object' && value !== null && 'mount' in value;
}

function isLogFile(path: string): boolean {
  return /[/\\]pg_wal[/\\](?:[0-9A-F]{24}|xlogtemp\.\d+)$/.test(path);
}

/** A table that cannot grow is an error of one statement. The log and the state of transactions must be written whatever happens. */
function isVitalFile(path: string): boolean {
  return !/[/\\]base(?:[/\\]|$)/.test(path);
}

/** Folders too: a new name is on the disk only with its folder. Windows cannot, and need not. */
function flush(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (process.platform !== 'win32') throw error;
  }
}

/** Errors of the emscripten file system have the form of an error and are none. */
function isFull(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errno' in error && fullErrnos.includes(error.errno);
}
