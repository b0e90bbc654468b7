import { type ExecutionResult, GraphQLError } from 'graphql';
import { DomainError } from '../../entities/ground/errors.ts';
import { jsonBytes, jsonBytesAtLeast, jsonBytesOfCharMax } from '../../lib/json/json-size.ts';

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
