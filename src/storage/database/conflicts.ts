import { DomainError } from '../../entities/errors.ts';
import { Prisma } from '../generated/client.ts';

/** Prisma's codes for two writes that met: a unique value taken, a row that was referred to gone, a deadlock. */
const collisions: readonly string[] = ['P2002', 'P2003', 'P2034'];
const missingRow = 'P2025';

/**
 * Tells a caller of what another call did at the same moment; what was checked before a write may be different at the write.
 *
 * @throws DomainError NOT_FOUND when the row is gone by now, CONFLICT when two writes met. Nothing was written then.
 */
export async function settled<T>(write: Promise<T>, noun: string): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof Prisma.PrismaClientKnownRequestError)) throw error;
    if (error.code === missingRow) throw new DomainError('NOT_FOUND', `There is no such ${noun}`);
    if (collisions.includes(error.code)) {
      throw new DomainError(
        'CONFLICT',
        `The ${noun}, or something it names, was changed by another call at the same time; try again`,
      );
    }
    throw error;
  }
}

const uniqueViolation = '23505';

/**
 * The same for SQL of ours: a unique value that is taken is told with the member that holds it.
 *
 * @throws DomainError CONFLICT. Nothing was written then.
 */
export async function unlessTaken<T>(write: Promise<T>, param: string, message: string): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === uniqueViolation;
    if (isTaken) throw new DomainError('CONFLICT', message, { param });
    throw error;
  }
}
