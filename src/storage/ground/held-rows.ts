import { heldSince, isHeldError } from '../../entities/operations/data-life/hold.ts';

/** What the trigger of a table raises: prisma/migrations, holds_on_rows. */
const refusal = /A legal hold keeps this since (\d{4}-\d\d-\d\d)/;
const state = 'PH001';

/** What a transaction gave; undefined when a legal hold refused it. */
export async function unlessHeld<T>(transaction: Promise<T>): Promise<T | undefined> {
  try {
    return await transaction;
  } catch (error) {
    if (isHeldError(error)) return undefined;
    throw error;
  }
}

/** The error for the caller of a statement that a legal hold refused; any other error as it is. */
export function refusedByHold(error: unknown): unknown {
  const day = error instanceof Error && collectCodes(error).has(state) ? refusal.exec(error.message)?.[1] : undefined;
  return day === undefined ? error : heldSince(day);
}

/** The driver's code stands at its own error, and within what Prisma makes of it. */
function collectCodes(error: Error): ReadonlySet<unknown> {
  const { code, meta } = error as { readonly code?: unknown; readonly meta?: { readonly driverAdapterError?: Error } };
  const cause = meta?.driverAdapterError?.cause as { readonly code?: unknown } | undefined;
  return new Set([code, cause?.code]);
}
