import type { Project, ProjectParts } from '../../../entities/conversations/project.ts';
import { isAny } from '../../../entities/ground/filter.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { DataSourceFilter, ProjectFilter } from '../../../entities/people/access.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { mergeLatest, newestFirst, readPage } from '../../ground/lists/paging.ts';
import { containing } from '../../ground/lists/where.ts';
import { PublishingStore } from '../../ground/store.ts';
import { dataSourceWhere } from '../../knowledge/sources/filter.ts';
import { projectWhere } from './filter.ts';

export interface ProjectChanges {
  readonly name?: string;
  readonly instructions?: string;
}

/** What a run gets of the project of its chat. */
export interface ProjectOfRun {
  readonly name: string;
  readonly instructions: string;
  readonly orgId: string;
  /** Those that the asking person may read. */
  readonly dataSourceIds: readonly string[];
}

const columns = {
  id: true,
  createdAt: true,
  updatedAt: true,
  orgId: true,
  userId: true,
  name: true,
  instructions: true,
} as const;

export class ProjectStore extends PublishingStore {
  async find(id: string, filter: ProjectFilter): Promise<Project | undefined> {
    return (await this.findMany([id], filter))[0];
  }

  findMany(ids: readonly string[], filter: ProjectFilter): Promise<readonly Project[]> {
    const where = { AND: [{ id: { in: [...ids] } }, projectWhere(filter)] };
    return this.db.prisma.project.findMany({ where, select: columns });
  }

  /** Newest first. */
  list(filter: ProjectFilter, search: string | undefined, page: PageRequest): Promise<Page<Project>> {
    return listProjects(this.db, filter, search, page);
  }

  async create(project: Omit<Project, 'updatedAt'>, parts: ProjectParts): Promise<void> {
    await this.db.transaction(async (tx) => {
      await tx.prisma.project.create({ data: { ...project, updatedAt: project.createdAt } });
      await settled(addParts(tx, project.id, parts), 'project');
    });
  }

  /** Absent parts stay. */
  async update(id: string, changes: ProjectChanges, parts: Partial<ProjectParts>): Promise<void> {
    await this.db.transaction(async (tx) => {
      const { project, projectGroup, projectSource, projectAgent } = tx.prisma;
      await settled(
        project.update({ where: { id }, data: { ...changes, updatedAt: new Date() }, select: { id: true } }),
        'project',
      );
      const where = { projectId: id };
      if (parts.groupIds !== undefined) await projectGroup.deleteMany({ where });
      if (parts.dataSourceIds !== undefined) await projectSource.deleteMany({ where });
      if (parts.agentIds !== undefined) await projectAgent.deleteMany({ where });
      await settled(addParts(tx, id, parts), 'project');
    });
  }

  /** Its chats stay with their users, in no project. @returns false when it was deleted before. */
  async delete(id: string): Promise<boolean> {
    const chats = await this.db.transaction((tx) => deleteProject(tx, id));
    for (const chatId of chats ?? []) this.signals.publish('chat-changed', chatId);
    return chats !== undefined;
  }

  /** The parts of each project. Three statements. */
  async partsOf(ids: readonly string[]): Promise<ReadonlyMap<string, ProjectParts>> {
    const { projectGroup, projectSource, projectAgent } = this.db.prisma;
    const where = { projectId: { in: [...ids] } };
    const groups = await projectGroup.findMany({ where, orderBy: { groupId: 'asc' } });
    const sources = await projectSource.findMany({ where, orderBy: { dataSourceId: 'asc' } });
    const agents = await projectAgent.findMany({ where, orderBy: { position: 'asc' } });
    return new Map(
      ids.map((id) => [
        id,
        {
          groupIds: groups.flatMap(({ projectId, groupId }) => (projectId === id ? [groupId] : [])),
          dataSourceIds: sources.flatMap(({ projectId, dataSourceId }) => (projectId === id ? [dataSourceId] : [])),
          agentIds: agents.flatMap(({ projectId, agentId }) => (projectId === id ? [agentId] : [])),
        },
      ]),
    );
  }

  /** Two statements; undefined when the person may not see the project. */
  async ofRun(id: string, filter: ProjectFilter, readable: DataSourceFilter): Promise<ProjectOfRun | undefined> {
    const project = await this.find(id, filter);
    if (project === undefined) return undefined;
    const { orgId, name, instructions } = project;
    const where = { AND: [{ orgId, deletingAt: null, projects: { some: { projectId: id } } }, dataSourceWhere(readable)] };
    const sources = await this.db.prisma.dataSource.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } });
    return { name, instructions, orgId, dataSourceIds: sources.map((source) => source.id) };
  }
}

/** Each alternative of the rule finds its own first rows by its own index, and the page is merged from those. */
async function listProjects(
  db: Database,
  filter: ProjectFilter,
  search: string | undefined,
  page: PageRequest,
): Promise<Page<Project>> {
  const { project } = db.prisma;
  const named = search === undefined ? {} : { name: containing(search) };
  const select = { id: true, createdAt: true, rowBytes: true };
  const lists = (isAny(filter) ? filter.any : [filter]).map((part) =>
    project.findMany({ ...newestFirst({ AND: [named, projectWhere(part)] }, page), select }),
  );
  const places = mergeLatest(await Promise.all(lists), ({ createdAt }) => createdAt, page);
  const { rows, foundCount } = await readPage(db, places, (ids) =>
    project.findMany({ where: { id: { in: ids } }, select: columns }),
  );
  const where = { AND: [named, projectWhere(filter)] };
  return toPage(rows, page, timeKey, (take) => project.count({ where, take }), foundCount);
}

async function addParts(
  { prisma }: Transaction,
  projectId: string,
  { groupIds = [], dataSourceIds = [], agentIds = [] }: Partial<ProjectParts>,
): Promise<void> {
  const { projectGroup, projectSource, projectAgent } = prisma;
  if (groupIds.length > 0) await projectGroup.createMany({ data: groupIds.map((groupId) => ({ projectId, groupId })) });
  if (dataSourceIds.length > 0)
    await projectSource.createMany({ data: dataSourceIds.map((dataSourceId) => ({ projectId, dataSourceId })) });
  if (agentIds.length > 0)
    await projectAgent.createMany({ data: agentIds.map((agentId, position) => ({ projectId, agentId, position })) });
}

/** @returns the ids of the chats that it lets go of; undefined when it was deleted before. */
async function deleteProject({ prisma }: Transaction, id: string): Promise<readonly string[] | undefined> {
  if ((await prisma.project.deleteMany({ where: { id } })).count === 0) return undefined;
  const where = { projectId: id };
  return (await prisma.chat.updateManyAndReturn({ where, data: { projectId: null }, select: { id: true } })).map(
    (chat) => chat.id,
  );
}
