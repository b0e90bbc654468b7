/** What goes to a process that works on foreign bytes, and what comes back: one line of JSON, then bytes, the parts one after the other. */
export interface Frame {
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

const newline = 10;

export function encodeFrame(header: object, parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...parts]);
}

/** @throws Error for bytes that are no frame. */
export function decodeFrame(bytes: Buffer): Frame {
  const end = bytes.indexOf(newline);
  const header: unknown = JSON.parse(bytes.subarray(0, end < 0 ? bytes.length : end).toString());
  if (typeof header !== 'object' || header === null || Array.isArray(header)) throw new Error('a frame begins with an object');
  return { header: header as Frame['header'], body: end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 1) };
}

/** Cuts the body of a frame into its parts. @throws Error when the sizes do not add up to the body. */
export function splitParts(body: Buffer, sizes: readonly number[]): readonly Buffer[] {
  let at = 0;
  const parts = sizes.map((size) => {
    if (!Number.isSafeInteger(size) || size < 0) throw new Error('a size is a whole number');
    const part = body.subarray(at, at + size);
    at += size;
    return part;
  });
  if (at !== body.length) throw new Error('the sizes do not add up to the body');
  return parts;
}
