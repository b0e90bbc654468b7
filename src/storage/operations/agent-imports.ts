import type { AgentFlow, AgentSkill, AgentTool, AgentUserInput } from '../../entities/agents/part.ts';
import type { DataSourceType, RefreshPeriod } from '../../entities/knowledge/data-source.ts';
import { type NewAgent, toData } from '../agents/agents.ts';
import { addFlows } from '../agents/parts/flows.ts';
import { addParts, type NewPart } from '../agents/parts/part-table.ts';
import type { NewSecret } from '../agents/parts/secrets.ts';
import { secretShape, skillShape, toolShape, userInputShape } from '../agents/parts/shapes.ts';
import { addCases, type NewCase } from '../conversations/evaluation/datasets.ts';
import { type NewGate, toGateRow } from '../conversations/evaluation/gates.ts';
import type { Transaction } from '../ground/database.ts';
import { PublishingStore } from '../ground/store.ts';
import { addDataSource } from '../knowledge/sources/new-source.ts';

/** An agent of a bundle, with everything that belongs to it. */
export interface ImportedAgent {
  readonly agent: NewAgent;
  readonly tools: readonly NewPart<AgentTool>[];
  readonly userInputs: readonly NewPart<AgentUserInput>[];
  readonly skills: readonly NewPart<AgentSkill>[];
  readonly flows: readonly NewPart<AgentFlow>[];
  readonly secrets: readonly NewSecret[];
  readonly dataSources: readonly ImportedDataSource[];
  readonly datasets: readonly ImportedDataset[];
  readonly gate: Omit<NewGate, 'agentId'> | undefined;
}
export interface ImportedDataset {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly callsTools: boolean;
  readonly cases: readonly NewCase[];
}
export interface ImportedDataSource {
  readonly id: string;
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod: RefreshPeriod;
  readonly data: Readonly<Record<string, unknown>>;
  readonly items: readonly ImportedItem[];
}
export interface ImportedItem {
  readonly id: string;
  readonly name: string;
  readonly uniqueId: string;
  readonly filename: string | null;
  readonly mimeType: string | null;
  /** Null: the bundle did not contain the content, and the item says so. */
  readonly contentBlobKey: string | null;
  readonly sizeBytes: number | null;
}

const missingContent = {
  indexStatus: 'FAILED',
  errorCode: 'CONTENT_MISSING',
  errorMessage: 'The bundle that this was imported from did not carry the content; add the document again',
};

export class AgentImportStore extends PublishingStore {
  /** Writes all of it or nothing, together with whatever `also` does in the same transaction. */
  async create(
    { agent, tools, userInputs, skills, flows, secrets, dataSources, datasets, gate }: ImportedAgent,
    also: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    await this.db.transaction(async (tx) => {
      await tx.prisma.agent.create({ data: toData(agent) });
      await addParts<AgentTool>(tx, toolShape, tools);
      await addParts<AgentUserInput>(tx, userInputShape, userInputs);
      await addParts<AgentSkill>(tx, skillShape, skills);
      await addFlows(tx, flows);
      await addParts<NewSecret & { readonly updatedAt: Date }>(tx, secretShape, secrets);
      for (const source of dataSources) await addSource(tx, agent, source);
      for (const dataset of datasets) await addDataset(tx, agent, dataset);
      if (gate !== undefined) await tx.prisma.agentGate.create({ data: toGateRow({ agentId: agent.id, ...gate }) });
      await also(tx);
    });
    this.signals.publish('agent-changed', agent.id);
  }
}

/** A dataset with cases begins with its first revision. */
async function addDataset(tx: Transaction, agent: NewAgent, { cases, ...dataset }: ImportedDataset): Promise<void> {
  const { id: agentId, orgId, createdAt } = agent;
  const revision = cases.length === 0 ? 0 : 1;
  const draftCount = cases.filter(({ isDraft }) => isDraft).length;
  await tx.prisma.dataset.create({
    data: { ...dataset, agentId, orgId, createdAt, revision, draftCount, caseCount: cases.length },
  });
  await addCases(
    tx,
    cases.map((row) => ({ ...row, datasetId: dataset.id, orgId, createdAt, fromRevision: revision })),
  );
}

async function addSource(tx: Transaction, agent: NewAgent, { items, ...source }: ImportedDataSource): Promise<void> {
  const { orgId, createdAt, userId } = agent;
  const times = { createdAt, updatedAt: createdAt };
  await addDataSource(tx, agent.id, { ...source, orgId, createdAt, ownerUserId: userId });
  const data = items.map((item) => ({
    ...times,
    ...item,
    orgId,
    dataSourceId: source.id,
    type: source.type,
    ...(item.contentBlobKey === null ? missingContent : { indexStatus: 'QUEUED' }),
  }));
  await tx.prisma.knowledgeItem.createMany({ data });
}
