import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DomainError } from '../../entities/ground/errors.ts';
import type { UnsentReplies } from './unsent-replies.ts';

/** Replies up to this size are neither counted nor refused: most, and every error. */
const smallReplyMaxBytes = 64 * 1024;
/** A client that reads takes so much in the time after which it counts as stalled, or all that waited for it at the beginning of that time. */
const progressBytes = 64 * 1024;
/** A client that takes little for so long may be cut off where too many bytes wait. */
const greedyAfterMs = 1_000;
/** Owner of the replies that need no key. */
const nobody = '';

/** Why a reply ended early: its client left, did not read, or sent too many requests at once, or the service broke it off. */
export type BreakReason = 'client' | 'stalled' | 'pipelined' | 'service';

/** What all connections of a server share. */
export interface ConnectionParts {
  readonly handle: RequestListener;
  readonly pipelinedMax: number;
  readonly unsent: UnsentReplies;
}

const connectionOfSocket = Symbol('connection');

interface WatchedSocket extends Socket {
  [connectionOfSocket]?: Connection;
}

/** One connection of a server: its requests one at a time, and how fast its client reads. */
export class Connection {
  readonly #socket: WatchedSocket;
  readonly #parts: ConnectionParts;
  /** Requests that came before the reply in front of them was out. */
  readonly #waiting: ServerResponse[] = [];
  #answering: ServerResponse | undefined;
  #brokenOffBy: BreakReason | undefined;
  #owner = nobody;
  /** Since when the client is watched for progress; undefined while nothing waits for it. */
  #watchedMs: number | undefined;
  /** What the system must have taken for the client to count as one that reads. */
  #dueBytes = 0;
  #countedBytes = 0;
  #countedFromBytes = 0;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#socket[connectionOfSocket] = this;
    socket.once('close', () => this.#close());
  }

  /** The connection of a request or a socket; undefined where nobody watches the server. */
  static of({ socket }: { readonly socket: Duplex & { readonly [connectionOfSocket]?: Connection } }): Connection | undefined {
    return socket[connectionOfSocket];
  }

  /** Whether a request is being answered, or waits. */
  get isAnswering(): boolean {
    return this.#answering !== undefined;
  }

  /** Whether a part of a reply may be out. */
  get hasBegunReply(): boolean {
    return this.#answering?.headersSent === true;
  }

  get hasUnsent(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Why the service broke off its replies; undefined when it did not. */
  get brokenOffBy(): BreakReason | undefined {
    return this.#brokenOffBy;
  }

  /** Answers a request once the replies before it are sent. Node's parser emits all pipelined requests of one read at once. */
  take(req: IncomingMessage, res: ServerResponse): void {
    if (this.#socket.destroyed) return;
    if (!this.isAnswering) this.#begin(req, res);
    else if (this.#waiting.length >= this.#parts.pipelinedMax) this.breakOff('pipelined');
    else {
      this.#waiting.push(res);
      // Nothing more is read until these are answered.
      this.#socket.pause();
    }
  }

  /** Ends the connection with whatever it still has to send. The first reason counts. */
  breakOff(reason: BreakReason): void {
    this.#brokenOffBy ??= reason;
    this.#waiting.length = 0;
    this.#countLess(this.#countedBytes);
    this.#socket.destroy();
  }

  /** Breaks off a client that has taken too little of what waits for it since `stalledSinceMs`. */
  tick(nowMs: number, stalledSinceMs: number): void {
    const waitingBytes = this.#socket.writableLength;
    if (waitingBytes === 0) {
      this.#watchedMs = undefined;
      return;
    }
    const sentBytes = this.#systemTook();
    this.#recount(sentBytes);
    if (this.#watchedMs === undefined || sentBytes >= this.#dueBytes) {
      this.#watchedMs = nowMs;
      this.#dueBytes = sentBytes + Math.min(progressBytes, waitingBytes);
    } else if (this.#watchedMs <= stalledSinceMs) this.breakOff('stalled');
  }

  /** Since when a client makes no progress whose owner holds more than its share of the bytes that wait; undefined for any other. */
  greedySinceMs(nowMs: number): number | undefined {
    const since = this.#watchedMs;
    if (since === undefined || since > nowMs - greedyAfterMs || this.#countedBytes === 0) return undefined;
    return this.#parts.unsent.isOver(this.#owner) ? since : undefined;
  }

  /**
   * Notes whose request is being answered.
   *
   * @throws DomainError OVERLOADED when the owner's clients leave too many bytes unread.
   */
  enter(owner: string): void {
    this.#owner = owner;
    if (!this.#parts.unsent.hasRoom(owner)) throw tooMuchUnread();
  }

  /**
   * Counts the reply that is about to be sent, until it is out.
   *
   * @throws DomainError OVERLOADED where it `mayRefuse` and there is no room for so many bytes.
   */
  count(sizeBytes: number, mayRefuse: boolean): void {
    if (sizeBytes <= smallReplyMaxBytes) return;
    const { unsent } = this.#parts;
    if (mayRefuse && !unsent.hasRoom(this.#owner, sizeBytes)) throw tooMuchUnread();
    this.#countedBytes = sizeBytes;
    this.#countedFromBytes = this.#systemTook();
    unsent.add(this.#owner, sizeBytes);
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    this.#answering = res;
    this.#owner = nobody;
    res.once('close', onReplyClosed);
    this.#parts.handle(req, res);
  }

  /** The reply is out, or broken off. */
  next(): void {
    this.#countLess(this.#countedBytes);
    this.#answering = undefined;
    const res = this.#waiting.shift();
    if (res === undefined || this.#socket.destroyed) return;
    if (this.#waiting.length === 0) this.#socket.resume();
    this.#begin(res.req, res);
  }

  #close(): void {
    this.#waiting.length = 0;
    this.#countLess(this.#countedBytes);
  }

  #recount(sentBytes: number): void {
    if (this.#countedBytes === 0) return;
    this.#countLess(Math.min(this.#countedBytes, sentBytes - this.#countedFromBytes));
    this.#countedFromBytes = sentBytes;
  }

  #countLess(bytes: number): void {
    if (bytes <= 0) return;
    this.#countedBytes -= bytes;
    this.#parts.unsent.remove(this.#owner, bytes);
  }

  /** The bytes of the writes that are through. Replies are written in pieces of 64 KiB, so it follows a slow reader closely. */
  #systemTook(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }
}

/** A listener of the reply, which is `this`. */
function onReplyClosed(this: ServerResponse): void {
  Connection.of(this.req)?.next();
}

function tooMuchUnread(): DomainError {
  const message = 'Clients of this organization leave too many bytes of their replies unread; read them, then try again';
  return new DomainError('OVERLOADED', message, { retryAfterSeconds: 1 });
}

/** Breaks off a reply of which a part may be out: the client must not take the part for the whole. */
export function breakOff(res: ServerResponse): void {
  Connection.of(res.req)?.breakOff('service');
  res.destroy();
}

/** Why a reply that is closed was not sent whole; undefined for one that was. */
export function findBreakReason(res: ServerResponse): BreakReason | undefined {
  return res.writableFinished ? undefined : (Connection.of(res.req)?.brokenOffBy ?? 'client');
}

/** The status of a reply for logs and metrics: the one that was sent, else 500 or 499 for a reply that the service or its client broke off. */
export function reportedStatus(res: ServerResponse): number {
  if (res.writableFinished || !res.destroyed || res.statusCode >= 400) return res.statusCode;
  return findBreakReason(res) === 'service' ? 500 : 499;
}
