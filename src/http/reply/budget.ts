import { type ExecutionResult, GraphQLError } from 'graphql';
import { DomainError } from '../../entities/ground/errors.ts';

/** Bytes of an error besides its message, about. */
const errorBytes = 200;

/** What one reply may take, on every API: counted while its fields are resolved, before its text takes memory. */
export class ReplyBudget {
  readonly #maxBytes: number;
  #spentBytes = 0;

  /** @param maxBytes  REPLY_MAX_BYTES. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns whether the reply still fits. Once it does not, it is refused as a whole, so fields need no value any more. */
  spend(bytes: number): boolean {
    this.#spentBytes += bytes;
    return this.#spentBytes <= this.#maxBytes;
  }

  /** The same for a value whose size is not known. */
  spendOn(value: object): boolean {
    return this.spend(jsonBytesAtLeast(value, Math.max(0, this.#maxBytes - this.#spentBytes)));
  }

  /** Why a result may not be sent. Escapes and characters beyond ASCII are measured only where they could exceed the budget. */
  refusalOf({ data, errors = [] }: ExecutionResult): DomainError | undefined {
    for (const { message } of errors) this.#spentBytes += message.length + errorBytes;
    const mayBeOver = this.#spentBytes * jsonBytesOfCharMax > this.#maxBytes;
    const isOver = this.#spentBytes > this.#maxBytes || (mayBeOver && jsonBytes(data ?? null, this.#maxBytes) > this.#maxBytes);
    if (!isOver) return undefined;
    const message = `The reply would be larger than ${this.#maxBytes} bytes; ask for a shorter list (limit, first) or for fewer members`;
    return new DomainError('REPLY_TOO_LARGE', message);
  }
}

/** The result, or the refusal of the budget alone. */
export function boundedResult(result: ExecutionResult, budget: ReplyBudget | undefined): ExecutionResult {
  const refusal = budget?.refusalOf(result);
  return refusal === undefined ? result : { errors: [new GraphQLError(refusal.message, { originalError: refusal })], data: null };
}

/**
 * A lower bound of a value's bytes as JSON text, in one pass without writing it: as if nothing needed an escape and all were ASCII.
 * Stops once `max` is exceeded.
 */
function jsonBytesAtLeast(value: unknown, max: number): number {
  return measure(value, max, (text) => text.length + 2);
}

/** The bytes of a plain JSON value as JSON text in UTF-8. Stops once `max` is exceeded. */
function jsonBytes(value: unknown, max: number): number {
  return measure(value, max, (text) => Buffer.byteLength(JSON.stringify(text)));
}

/** Most bytes of one UTF-16 code unit: a control character becomes an escape. */
const jsonBytesOfCharMax = 6;

function measure(root: unknown, max: number, textBytes: (text: string) => number): number {
  const rest: unknown[] = [root];
  let bytes = 0;
  while (rest.length > 0 && bytes <= max) {
    const value = rest.pop();
    if (typeof value === 'string') bytes += textBytes(value);
    else if (Array.isArray(value)) {
      bytes += value.length + 1;
      for (const item of value) rest.push(item);
    } else if (value instanceof Date) bytes += 26;
    else if (typeof value === 'object' && value !== null) {
      bytes += 1;
      for (const [name, member] of Object.entries(value)) {
        if (member === undefined) continue;
        bytes += textBytes(name) + 2;
        rest.push(member);
      }
    } else bytes += String(value).length;
  }
  return bytes;
}
