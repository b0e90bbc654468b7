import type { DataSourceType, RefreshPeriod } from '../../../entities/knowledge/data-source.ts';
import type { SourcePermissions } from '../../../entities/knowledge/permissions.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';

/** The first values of a source. */
export interface NewSource extends Partial<SourcePermissions> {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod?: RefreshPeriod;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Writes a source and attaches it to an agent. */
export async function addDataSource(tx: Transaction, agentId: string, source: NewSource): Promise<void> {
  const { access, ...row } = source;
  const { id, createdAt, data } = row;
  await tx.prisma.dataSource.create({
    data: { ...row, updatedAt: createdAt, data: { ...data } as Prisma.InputJsonObject },
  });
  // A change of this column is announced to all processes; a new row is not.
  if (access !== undefined && access !== 'LENT') await tx.prisma.dataSource.update({ where: { id }, data: { access } });
  await tx.prisma.agentDataSource.create({ data: { agentId, dataSourceId: id, createdAt } });
}
