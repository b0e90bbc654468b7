import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import { describe, expect, it } from 'vitest';
import { publicError } from '../../../src/entities/ground/errors.ts';

/** An error of PostgreSQL as the driver passes it on, which Prisma does not wrap at the begin and the end of a transaction. */
function driverError(originalCode: string): Error {
  const text = { message: 'said by the database', originalMessage: 'said by the database', severity: 'FATAL' };
  return new DriverAdapterError({
    kind: 'postgres',
    code: originalCode,
    originalCode,
    ...text,
    detail: undefined,
    column: undefined,
    hint: undefined,
  });
}

describe('an error of the database at the end of a transaction', () => {
  it.each([
    ['57P01', 'OVERLOADED'],
    ['08006', 'OVERLOADED'],
    ['57014', 'OVERLOADED'],
    ['53100', 'STORAGE_FULL'],
    ['XX000', 'SERVER_ERROR'],
  ])('%s is %s', (code, shown) => {
    expect(publicError(driverError(code)).code).toBe(shown);
  });
});
