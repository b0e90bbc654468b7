import type { DataSourceType, RefreshPeriod } from '../../../entities/knowledge/data-source.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';

/** The first values of a source. */
export interface NewSource {
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
  const { id, createdAt, data } = source;
  await tx.prisma.dataSource.create({
    data: { ...source, updatedAt: createdAt, data: { ...data } as Prisma.InputJsonObject },
  });
  await tx.prisma.agentDataSource.create({ data: { agentId, dataSourceId: id, createdAt } });
}
