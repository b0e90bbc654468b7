/** What a frame of the PostgreSQL protocol asks of the embedded database's front. */
export interface Frame {
  /** The message's type byte as a character; '' for the ones a connection begins with. */
  readonly type: string;
  readonly bytes: Buffer;
}

export const sslRequest = 80_877_103;
export const gssRequest = 80_877_104;
export const cancelRequest = 80_877_102;

/** Cuts a connection's bytes into whole messages, without copying until one is complete. */
export class FrameReader {
  #pending: Buffer[] = [];
  #length = 0;
  #hasStarted = false;

  push(chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#length += chunk.length;
  }

  /** The next whole message, or undefined until more bytes come. */
  next(): Frame | undefined {
    const headerLength = this.#hasStarted ? 5 : 8;
    if (this.#length < headerLength) return undefined;
    const head = this.#join(headerLength);
    const length = this.#hasStarted ? 1 + head.readInt32BE(1) : head.readInt32BE(0);
    if (this.#length < length) return undefined;
    const all = this.#join(length);
    const bytes = all.subarray(0, length);
    this.#pending = all.length > length ? [all.subarray(length)] : [];
    this.#length -= length;
    if (this.#hasStarted) return { type: String.fromCharCode(bytes[0] ?? 0), bytes };
    const code = bytes.readInt32BE(4);
    this.#hasStarted = code !== sslRequest && code !== gssRequest;
    return { type: '', bytes };
  }

  /** One buffer holding at least `length` bytes from the front. */
  #join(length: number): Buffer {
    const first = this.#pending[0];
    if (first !== undefined && first.length >= length) return first;
    const all = Buffer.concat(this.#pending);
    this.#pending = [all];
    return all;
  }
}

/**
 * Gives a connection's named statements a prefix of their own. All connections share one session of the database, where a name can stand
 * once only; a pool that prepares the same name on each of its connections would fail otherwise.
 *
 * @param names  filled with every name this connection prepared.
 */
export function renameStatements(frame: Frame, prefix: string, names: Set<string>): Buffer {
  const { type, bytes } = frame;
  if (type === 'P') return renameAt(bytes, 5, prefix, names);
  if (type === 'B') return renameAt(bytes, bytes.indexOf(0, 5) + 1, prefix, undefined);
  const isStatement = bytes[5] === 0x53;
  return (type === 'D' || type === 'C') && isStatement ? renameAt(bytes, 6, prefix, undefined) : bytes;
}

function renameAt(bytes: Buffer, offset: number, prefix: string, names: Set<string> | undefined): Buffer {
  if (bytes[offset] === 0) return bytes;
  names?.add(prefix + bytes.toString('utf8', offset, bytes.indexOf(0, offset)));
  const prefixedMessage = Buffer.concat([bytes.subarray(0, offset), Buffer.from(prefix), bytes.subarray(offset)]);
  prefixedMessage.writeInt32BE(prefixedMessage.length - 1, 1);
  return prefixedMessage;
}

/** Closes statements by name, ending in Sync. */
export function closeStatements(names: Iterable<string>): Buffer {
  const closes = [...names].map((name) => message('C', Buffer.from(`S${name}\0`)));
  return Buffer.concat([...closes, message('S', Buffer.alloc(0))]);
}

/** An error that ends the connection, as a client library shows it. */
export function fatalError(code: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));
}

/**
 * Gives errors of a write to a read-only database the code of a full disk, which is why it is read-only. Changes `reply`.
 *
 * @param reply  whole messages of the server.
 */
export function tellFull(reply: Buffer): void {
  const [readOnly, full] = ['C25006\0', 'C53100\0'];
  const error = 0x45;
  for (let offset = 0; offset + 5 <= reply.length; ) {
    const end = offset + 1 + reply.readInt32BE(offset + 1);
    const code = reply[offset] === error ? reply.subarray(offset, end).indexOf(readOnly) : -1;
    if (code !== -1) reply.write(full, offset + code, 'latin1');
    offset = end;
  }
}

function message(type: string, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(5 + body.length);
  bytes.write(type, 0, 'latin1');
  bytes.writeInt32BE(4 + body.length, 1);
  body.copy(bytes, 5);
  return bytes;
}
