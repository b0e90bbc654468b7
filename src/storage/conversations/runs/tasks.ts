import type { Task, TaskNotification, TaskState } from '../../../entities/conversations/task.ts';
import { type Page, type PageRequest, toPage } from '../../../entities/ground/page.ts';
import { settled } from '../../ground/conflicts.ts';
import { byTime } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';

/** Whose tasks: of one person with one agent. */
export interface TaskOwner {
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string;
}

export interface TaskFilter {
  readonly chatId?: string | undefined;
  readonly state?: TaskState | undefined;
  /** Only tasks whose state changed then or later. */
  readonly since?: Date | undefined;
}

export type NewTask = Pick<Task, 'id' | 'createdAt' | 'orgId' | 'userId' | 'agentId' | 'chatId' | 'messageIds' | 'state'>;

/** A response that goes on with a task. */
export interface TaskResponse {
  readonly runId: string;
  /** Of the message that it answers, as the client calls it. */
  readonly messageId: string;
  readonly state: TaskState;
  readonly at: Date;
}

export class TaskStore extends Store {
  async find(id: string, { orgId, userId, agentId }: TaskOwner): Promise<Task | undefined> {
    return ((await this.db.prisma.task.findFirst({ where: { id, orgId, userId, agentId } })) as Task | null) ?? undefined;
  }

  /** The task whose last response this is. */
  async findByRun(lastRunId: string): Promise<Task | undefined> {
    return ((await this.db.prisma.task.findUnique({ where: { lastRunId } })) as Task | null) ?? undefined;
  }

  async create(task: NewTask): Promise<void> {
    const { id, createdAt, messageIds } = task;
    const begun = { updatedAt: createdAt, lastRunId: id, runIds: [id], messageIds: [...messageIds] };
    await this.db.prisma.task.create({ data: { ...task, ...begun } });
  }

  /**
   * Notes that a response goes on with a task.
   *
   * @returns false when another one has gone on with it meanwhile.
   * @throws DomainError CONFLICT for a response of another task, which took the message into its turn.
   */
  async goOn({ id, lastRunId }: Task, { runId, messageId, state, at }: TaskResponse): Promise<boolean> {
    const data = { lastRunId: runId, runIds: { push: runId }, messageIds: { push: messageId }, state, updatedAt: at };
    const { count } = await settled(this.db.prisma.task.updateMany({ where: { id, lastRunId }, data }), 'task');
    return count > 0;
  }

  /** Ends a task that waits for its client. @returns false when it waits no longer. */
  async cancel({ id, lastRunId }: Task, at: Date): Promise<boolean> {
    const where = { id, lastRunId, state: 'INPUT_REQUIRED' };
    return (await this.db.prisma.task.updateMany({ where, data: { state: 'CANCELED', updatedAt: at } })).count > 0;
  }

  /** Those whose state changed last come first. Cost: one statement, by an index. */
  async list(owner: TaskOwner, { chatId, state, since }: TaskFilter, page: PageRequest): Promise<Page<Task>> {
    const { orgId, userId, agentId } = owner;
    const where = {
      ...{ orgId, userId, agentId },
      ...(chatId === undefined ? {} : { chatId }),
      ...(state === undefined ? {} : { state }),
      ...(since === undefined ? {} : { updatedAt: { gte: since } }),
    };
    const rows = (await this.db.prisma.task.findMany(byTime('updatedAt', 'desc', where, page))) as readonly Task[];
    const keyOf = (task: Task) => [task.updatedAt.toISOString(), task.id];
    return toPage(rows, page, keyOf, (take) => this.db.prisma.task.count({ where, take }));
  }

  /** @throws DomainError CONFLICT for one of two of the same id that come at one time. */
  async addNotification({ orgId }: Pick<Task, 'orgId'>, { webhookId, ...about }: TaskNotification): Promise<void> {
    const { taskId, configId, url, secret } = about;
    const own = { id: webhookId, orgId, url, secret, taskId, taskConfigId: configId };
    const data = { ...own, description: '', events: [], agentIds: [] };
    await settled(this.db.prisma.webhook.create({ data }), 'configuration');
  }

  /** In the order in which they were made. */
  async listNotifications(taskId: string): Promise<readonly TaskNotification[]> {
    const rows = await this.db.prisma.webhook.findMany({ where: { taskId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
    return rows.map(({ id, url, isEnabled, secret, taskConfigId }) => ({
      ...{ taskId, configId: taskConfigId ?? '', url, isEnabled, secret, webhookId: id },
    }));
  }

  /** What waits to be delivered goes with it. @returns whether there was one. */
  async deleteNotification(taskId: string, configId: string): Promise<boolean> {
    return (await this.db.prisma.webhook.deleteMany({ where: { taskId, taskConfigId: configId } })).count > 0;
  }
}
