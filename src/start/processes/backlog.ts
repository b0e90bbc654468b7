/** A process that does not read its messages for a while costs this many of them, not all memory. */
const waitingMax = 10_000;

/** Sends messages to one process, unless it does not read: then they are dropped, and it is told so once it reads again. */
export class Backlog<Message> {
  readonly #send: (message: Message, onWritten: () => void) => void;
  readonly #loss: Message;
  #waiting = 0;
  #hasLost = false;

  /** @param loss  the message that says that some were dropped. */
  constructor(send: (message: Message, onWritten: () => void) => void, loss: Message) {
    this.#send = send;
    this.#loss = loss;
  }

  add(message: Message): void {
    if (this.#hasLost || this.#waiting >= waitingMax) this.#hasLost = true;
    else this.#post(message);
  }

  #post(message: Message): void {
    this.#waiting += 1;
    this.#send(message, () => {
      this.#waiting -= 1;
      if (this.#waiting > 0 || !this.#hasLost) return;
      this.#hasLost = false;
      this.#post(this.#loss);
    });
  }
}
