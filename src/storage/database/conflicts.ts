import { DomainError } from '../../entities/errors.ts';
import { Prisma } from '../generated/client.ts';

const uniqueValueTaken = 'P2002';
/** Prisma's codes for two writes that met: a unique value taken, a row that was referred to gone, a deadlock. */
const collisions: readonly string[] = [uniqueValueTaken, 'P2003', 'P2034'];
const missingRow = 'P2025';

/** The member of a request whose value must be unique, and what its caller is told when it is taken. */
export interface UniqueMember {
  readonly param: string;
  readonly message: string;
}

/**
 * Tells a caller of what another call did at the same moment; what was checked before a write may be different at the write.
 *
 * @throws DomainError NOT_FOUND when the row is gone by now, CONFLICT when two writes met. Nothing was written then.
 */
export async function settled<T>(write: Promise<T>, noun: string, unique?: UniqueMember): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const code = codeOf(error);
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

/** The row that Prisma updated or deleted; undefined when there was none. */
export async function unlessMissing<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (codeOf(error) === missingRow) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Prisma.PrismaClientKnownRequestError ? error.code : undefined;
}
