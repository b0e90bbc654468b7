import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { OpenItems } from '../../lib/flow/open-items.ts';
import type { Settings } from '../../settings.ts';
import { Connection, type ConnectionParts } from './connection.ts';
import { UnsentReplies } from './unsent-replies.ts';

/** What one connection may cost. */
type Limits = Pick<Settings, 'SSE_STALL_TIMEOUT_MS' | 'PIPELINED_REQUESTS_MAX' | 'REPLIES_UNSENT_MAX_BYTES'>;

/**
 * All connections of a server, and what each may cost. A client that stops reading, or reads a few bytes now and then, is cut off, whatever
 * it is sent: a list, a file, a stream, a page, the messages of a WebSocket. Pipelined requests wait unread.
 */
export class Connections {
  readonly #stallMs: number;
  readonly #parts: ConnectionParts;
  readonly #tickMs: number;
  readonly #open = new OpenItems<Connection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Limits, handle: RequestListener) {
    const unsent = new UnsentReplies(limits.REPLIES_UNSENT_MAX_BYTES);
    this.#parts = { handle, pipelinedMax: limits.PIPELINED_REQUESTS_MAX, unsent };
    this.#stallMs = limits.SSE_STALL_TIMEOUT_MS;
    this.#tickMs = Math.max(10, Math.min(1_000, this.#stallMs / 4));
  }

  get unsentBytes(): number {
    return this.#parts.unsent.bytes;
  }

  /** Begins to watch a server that does not listen yet. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const connection = new Connection(socket, this.#parts);
      const opened = this.#open.add(connection);
      socket.once('close', () => this.#open.remove(opened));
      this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
    });
    // Node calls a connection idle once its reply is written, even while much of it waits for a slow reader, and would destroy it with the
    // rest. So no connection is closed as idle while any has bytes to send.
    const closeIdle = server.closeIdleConnections.bind(server);
    server.closeIdleConnections = () => {
      for (const { hasUnsent } of this.#open.values()) if (hasUnsent) return;
      closeIdle();
    };
  }

  /** For the server's requests. */
  readonly handle: RequestListener = (req, res) => {
    const connection = Connection.of(req);
    if (connection === undefined) throw new Error('a request came on a connection that nobody watches');
    connection.take(req, res);
  };

  /** Breaks off every connection. */
  breakOff(): void {
    for (const connection of this.#open.values()) connection.breakOff('service');
  }

  #tick(): void {
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const connection of this.#open.values()) connection.tick(nowMs, nowMs - this.#stallMs);
    this.#cutOffGreedy(nowMs);
  }

  /** Where too many bytes wait, clients that do not read are not given the whole time: those that read nothing for longest go first. */
  #cutOffGreedy(nowMs: number): void {
    if (this.unsentBytes === 0) return;
    const since = (connection: Connection) => connection.greedySinceMs(nowMs);
    const greedy = this.#open.values().filter((connection) => since(connection) !== undefined);
    greedy.sort((one, other) => (since(one) ?? nowMs) - (since(other) ?? nowMs));
    // Each one that goes may bring its owner back within its share.
    for (const connection of greedy) if (since(connection) !== undefined) connection.breakOff('stalled');
  }
}
