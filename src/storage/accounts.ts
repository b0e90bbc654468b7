import type { Organization, User } from '../entities/account.ts';
import type { Database } from './database.ts';

/** Users and organizations by id, many at once; what is missing is left out. */
export interface AccountStore {
  findUsers(ids: readonly string[]): Promise<readonly User[]>;
  findOrganizations(ids: readonly string[]): Promise<readonly Organization[]>;
}

export function createAccountStore({ prisma }: Database): AccountStore {
  return {
    findUsers: (ids) => prisma.user.findMany({ where: { id: { in: [...ids] } } }),
    findOrganizations: async (ids) => {
      const rows = await prisma.organization.findMany({ where: { id: { in: [...ids] } } });
      return rows.map((row) => ({
        ...row,
        dataUsageTokenLimit: toNumber(row.dataUsageTokenLimit),
        apiUsageTokenLimit: toNumber(row.apiUsageTokenLimit),
      }));
    },
  };
}

function toNumber(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
