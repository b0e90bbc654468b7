import cluster from 'node:cluster';

/** The supervisor, among the numbers of processes. */
export const supervisorNumber = 0;

/** What a process gives the supervisor, which hands it on. */
export interface OutgoingMessage {
  /** The number of a process, the supervisor's, or all other processes. */
  readonly to: number | 'others';
  readonly kind: MessageKind;
  readonly body: unknown;
}

/** What a process gets. */
export interface IncomingMessage {
  readonly from: number;
  readonly kind: MessageKind;
  readonly body: unknown;
}

/**
 * `started`: to the supervisor, with the welcome. `members`: from the supervisor, the numbers of all processes that have started. `metrics-wanted` and
 * `metrics`: between processes.
 */
export type MessageKind = 'started' | 'members' | 'metrics-wanted' | 'metrics';

export type MessageListener = (body: unknown, from: number) => void;

/** The arguments that tell a process its number, and the port of all. */
export function toArguments(number: number, port: number): readonly string[] {
  return [`--process=${number}`, `--port=${port}`];
}

function readArgument(name: 'process' | 'port'): number {
  const prefix = `--${name}=`;
  const argument = process.argv.find((text) => text.startsWith(prefix));
  if (argument === undefined) throw new Error(`a process without ${prefix}`);
  return Number(argument.slice(prefix.length));
}

/** The other processes of this service. Messages go through the supervisor: those of one process to another arrive in their order, or not at all. */
export class Siblings {
  /** From 1; a process that takes the place of one that ended has its number. */
  readonly number: number;
  /** The port that all share. */
  readonly port: number;
  /** The processes that have started, this one included. */
  #members: readonly number[];
  readonly #listeners = new Map<MessageKind, MessageListener>();

  constructor(number: number, port: number) {
    this.number = number;
    this.port = port;
    this.#members = [number];
    this.on('members', (body) => {
      this.#members = body as readonly number[];
    });
    process.on('message', ({ kind, body, from }: IncomingMessage) => this.#listeners.get(kind)?.(body, from));
  }

  /** Those of this process; undefined when it serves alone. */
  static join(): Siblings | undefined {
    return cluster.isWorker ? new Siblings(readArgument('process'), readArgument('port')) : undefined;
  }

  get others(): readonly number[] {
    return this.#members.filter((number) => number !== this.number);
  }

  /** Waits for nothing. A message to a process that has ended is lost. */
  send(to: OutgoingMessage['to'], kind: MessageKind, body: unknown = null): void {
    const message: OutgoingMessage = { to, kind, body };
    // Without a supervisor this process ends.
    process.send?.(message, undefined, undefined, () => undefined);
  }

  /** Each kind has one listener. */
  on(kind: MessageKind, listener: MessageListener): void {
    this.#listeners.set(kind, listener);
  }
}
