import { DomainError } from '../../entities/ground/errors.ts';
import { Prisma } from '../generated/client.ts';

const uniqueValueTaken = 'P2002';
const missingReference = 'P2003';
/** Prisma's codes for two colliding writes: a unique value is taken, a referenced row is deleted, a deadlock. */
const collisions: readonly string[] = [uniqueValueTaken, missingReference, 'P2034'];
const missingRow = 'P2025';

/** The member of a request whose value must be unique, and the error message when the value is taken. */
export interface UniqueMember {
  readonly param: string;
  readonly message: string;
}

/**
 * Turns the collision of a write with a concurrent call into an error for the caller: what was checked before the write may have changed.
 *
 * @throws DomainError NOT_FOUND when the row was deleted, CONFLICT when two writes collided. Nothing was written then.
 */
export async function settled<T>(write: Promise<T>, noun: string, unique?: UniqueMember): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const code = readCode(error);
    if (code === missingRow) throw new DomainError('NOT_FOUND', `There is no such ${noun}`);
    if (code === uniqueValueTaken && unique !== undefined) {
      throw new DomainError('CONFLICT', unique.message, { param: unique.param });
    }
    if (code !== undefined && collisions.includes(code)) {
      throw new DomainError(
        'CONFLICT',
        `The ${noun}, or something it names, was changed by another call at the same time; try again`,
      );
    }
    throw error;
  }
}

/** The row that Prisma updated or deleted; undefined when there was no such row. */
export async function unlessMissing<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (readCode(error) === missingRow) return undefined;
    throw error;
  }
}

/** The row that Prisma wrote; undefined when a row that it refers to was deleted meanwhile. Outside transactions only: in one, the failure ends it. */
export async function unlessOrphaned<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (readCode(error) === missingReference) return undefined;
    throw error;
  }
}

function readCode(error: unknown): string | undefined {
  return error instanceof Prisma.PrismaClientKnownRequestError ? error.code : undefined;
}
