import cluster from 'node:cluster';
import type { SiblingLink, SiblingListener, SignalMessage } from '../../storage/ground/signals/siblings.ts';
import { Backlog } from './backlog.ts';

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
 * `started`: to the supervisor, with the welcome. `members`: from the supervisor, the numbers of all processes that have started. `disk`: from the
 * supervisor, whether the embedded database has no room to write. `loss`: messages were dropped. The others are between processes; `callers`: callers
 * ask here.
 */
export type MessageKind = 'started' | 'members' | 'disk' | 'loss' | 'signal' | 'callers' | 'metrics-wanted' | 'metrics';

export type MessageListener = (body: unknown, from: number) => void;

/** The arguments that tell a process its number, the port of all, and the folder of the socket of the embedded database. */
export function toArguments(number: number, port: number, socketFolder: string | undefined): readonly string[] {
  return [`--process=${number}`, `--port=${port}`, ...(socketFolder === undefined ? [] : [`--database=${socketFolder}`])];
}

function findArgument(name: 'process' | 'port' | 'database'): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((text) => text.startsWith(prefix))?.slice(prefix.length);
}

/** Says at most so often that callers ask here; the others believe it for twice the time and more. */
const callersEveryMs = 100;
const callersMs = 250;

/** The other processes of this service. Messages go through the supervisor: those of one process to another arrive in their order. */
export class Siblings {
  /** From 1; a process that takes the place of one that ended has its number. */
  readonly number: number;
  /** The port that all share. */
  readonly port: number;
  /** Where the embedded database is, of a process of its own. */
  readonly socketFolder: string | undefined;
  readonly #backlog: Backlog<OutgoingMessage>;
  /** The processes that have started. */
  #members: readonly number[] = [];
  readonly #listeners = new Map<MessageKind, MessageListener>();
  #signals: SiblingListener | undefined;
  /** Whether the embedded database refuses writes, because its disk has no room. */
  isFull = false;
  #callersSaidMs = Number.NEGATIVE_INFINITY;
  #callersHeardMs = Number.NEGATIVE_INFINITY;

  constructor() {
    this.number = Number(findArgument('process'));
    this.port = Number(findArgument('port'));
    this.socketFolder = findArgument('database');
    this.#backlog = new Backlog<OutgoingMessage>(
      // Without a supervisor this process ends.
      (message, onWritten) => process.send?.(message, undefined, undefined, onWritten),
      { to: 'others', kind: 'loss', body: null },
    );
    this.on('members', (body) => this.#setMembers(body as readonly number[]));
    this.on('disk', (body) => {
      this.isFull = body === true;
    });
    this.on('loss', () => this.#signals?.onLoss());
    this.on('signal', (body, from) => this.#signals?.onMessage(body as SignalMessage, from));
    this.on('callers', () => {
      this.#callersHeardMs = performance.now();
    });
    process.on('message', ({ kind, body, from }: IncomingMessage) => this.#listeners.get(kind)?.(body, from));
  }

  /** Those of this process; undefined when it serves alone. */
  static join(): Siblings | undefined {
    return cluster.isWorker ? new Siblings() : undefined;
  }

  get others(): readonly number[] {
    return this.#members.filter((number) => number !== this.number);
  }

  /** Waits for nothing. A message to a process that has ended is lost. */
  send(to: OutgoingMessage['to'], kind: MessageKind, body: unknown = null): void {
    this.#backlog.add({ to, kind, body });
  }

  /** Each kind has one listener. */
  on(kind: MessageKind, listener: MessageListener): void {
    this.#listeners.set(kind, listener);
  }

  /** How signals go between the processes. */
  get link(): SiblingLink {
    const siblings = this;
    return {
      get others() {
        return siblings.others;
      },
      send: (to, message) => siblings.send(to, 'signal', message),
      listen(listener) {
        siblings.#signals = listener;
      },
    };
  }

  /** Whether callers ask at another process. */
  areCallersElsewhere(): boolean {
    return performance.now() - this.#callersHeardMs < callersMs;
  }

  noteCaller(): void {
    const nowMs = performance.now();
    if (nowMs - this.#callersSaidMs < callersEveryMs || this.others.length === 0) return;
    this.#callersSaidMs = nowMs;
    this.send('others', 'callers');
  }

  #setMembers(members: readonly number[]): void {
    const before = this.others;
    this.#members = members;
    for (const number of before) if (!members.includes(number)) this.#signals?.onLeave(number);
    for (const number of this.others) if (!before.includes(number)) this.#signals?.onJoin(number);
  }
}
