import type { Socket } from 'node:net';

/** Replies held at most: commits of one group wait for each other. */
const heldMax = 64;

/**
 * Holds replies back while a commit is not on the disk yet, also those of reads, which may have seen it. All that are held wait for one write
 * to the disk.
 */
export class ReplyQueue {
  readonly #log: { readonly isUnsynced: boolean; sync(): void };
  #held: { readonly socket: Socket; readonly reply: Buffer }[] = [];

  constructor(log: { readonly isUnsynced: boolean; sync(): void }) {
    this.#log = log;
  }

  add(socket: Socket, reply: Buffer): void {
    if (this.#log.isUnsynced) {
      this.#held.push({ socket, reply });
      if (this.#held.length >= heldMax) this.flush();
    } else {
      // The log was written meanwhile: those before are free too, and come first.
      this.flush();
      send(socket, reply);
    }
  }

  flush(): void {
    this.#log.sync();
    const replies = this.#held;
    this.#held = [];
    for (const { socket, reply } of replies) send(socket, reply);
  }
}

function send(socket: Socket, reply: Buffer): void {
  if (socket.writable) socket.write(reply);
}
