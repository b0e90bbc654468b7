import type { Scorer } from '../../../entities/conversations/evaluation/experiment.ts';
import type { AgentGate } from '../../../entities/conversations/evaluation/gate.ts';
import type { Prisma } from '../../generated/client.ts';
import { PublishingStore } from '../../ground/store.ts';

export type NewGate = Omit<AgentGate, 'createdAt' | 'updatedAt'>;

export class GateStore extends PublishingStore {
  async find(agentId: string): Promise<AgentGate | undefined> {
    const row = await this.db.prisma.agentGate.findUnique({ where: { agentId } });
    if (row === null) return undefined;
    return { ...row, tokensMax: Number(row.tokensMax), scorers: row.scorers as unknown as readonly Scorer[] };
  }

  async set(gate: NewGate): Promise<void> {
    const { agentId, ...data } = toGateRow(gate);
    await this.db.prisma.agentGate.upsert({ where: { agentId }, create: { agentId, ...data }, update: data });
    this.signals.publish('agent-changed', agentId);
  }

  async remove(agentId: string): Promise<boolean> {
    const { count } = await this.db.prisma.agentGate.deleteMany({ where: { agentId } });
    this.signals.publish('agent-changed', agentId);
    return count === 1;
  }
}

/** A gate as Prisma writes it. */
export function toGateRow({ tokensMax, scorers, ...gate }: NewGate) {
  return { ...gate, tokensMax: BigInt(tokensMax), scorers: scorers as unknown as Prisma.InputJsonArray };
}
