// Raw SQL: a change of an agent is opened and closed by one statement each, under the lock of its row.
import type {
  AgentCanary,
  AgentContent,
  AgentPublishing,
  AgentVersion,
  AgentVersioning,
  DraftChange,
} from '../../../entities/agents/version.ts';
import { type Page, type PageRequest, toPage } from '../../../entities/ground/page.ts';
import { readingOrder } from '../../ground/lists/paging.ts';
import { PublishingStore } from '../../ground/store.ts';

/** An agent that is locked for a change. Contents are JSON texts: a text that is written again keeps the order of members and the form of numbers. */
export interface OpenedAgent {
  readonly orgId: string;
  readonly publishing: AgentPublishing;
  readonly publishedVersion: number;
  readonly draftRevision: number;
  readonly isDraftChanged: boolean;
  readonly canaryVersion: number | null;
  readonly isApprovedByOrg: boolean;
  readonly lastVersion: number;
  readonly draft: string;
  /** Of the published version, where the draft differs from it; else null. */
  readonly published: string | null;
  /** Of the version that was asked for; null when there is none. */
  readonly target: string | null;
}

export interface NewVersion extends Pick<AgentVersion, 'number' | 'note' | 'members' | 'isPublished'> {
  readonly rolledBackTo?: number;
  readonly overrideReason?: string | undefined;
  /** The JSON text of its content. */
  readonly content: string;
}

/** What a change leaves of an agent. Absent members are kept. */
export interface ClosedAgent {
  readonly userId: string;
  readonly createdAt: Date;
  readonly draftRevision: number;
  readonly isDraftChanged: boolean;
  readonly publishedVersion: number;
  readonly publishing?: AgentPublishing;
  readonly canary?: AgentCanary | null;
  readonly versions?: readonly NewVersion[];
  /** What changed of the draft; absent: it did not. */
  readonly members?: readonly string[];
}

export interface PublishedContent {
  readonly content: AgentContent;
  readonly editorIds: ReadonlySet<string>;
}
interface PublishedRow {
  readonly id: string;
  readonly content: AgentContent;
  readonly editorIds: readonly string[];
}

/** Changes of a draft that are remembered for each agent. */
const draftChangesMax = 200;

const shownColumns = {
  ...{ agentId: true, number: true, createdAt: true, userId: true, note: true, members: true },
  ...{ isPublished: true, rolledBackTo: true, overrideReason: true },
} as const;

const versioningColumns = {
  ...{ publishing: true, publishedVersion: true, draftRevision: true, isDraftChanged: true },
  ...{ canaryVersion: true, canaryPercent: true, canaryStartedAt: true },
} as const;

/** The versions of agents. The domain has decided that the caller may see or change the agent. */
export class AgentVersionStore extends PublishingStore {
  /** Locks an agent until the current transaction ends. @returns undefined when it is deleted. */
  async open(agentId: string, target: number | null = null): Promise<OpenedAgent | undefined> {
    const [agent] = await this.db.query<OpenedAgent>('select * from parley_open_agent($1, $2::int)', [agentId, target]);
    return agent;
  }

  /** The JSON text of the draft. */
  async readDraft(agentId: string): Promise<string> {
    const [row] = await this.db.query<{ readonly draft: string }>('select parley_agent_content($1)::text as draft', [agentId]);
    return row?.draft ?? '{}';
  }

  /**
   * Makes the draft what a content says, with the sources that are named. The agent is open.
   *
   * @param changedIds  the sources that come or go.
   */
  async restore(agentId: string, content: string, sourceIds: readonly string[], changedIds: readonly string[]): Promise<void> {
    await this.db.execute('select parley_restore_agent($1, $2::json, $3::text[])', [agentId, content, sourceIds]);
    for (const id of changedIds) this.signals.publish('data-source-changed', id);
  }

  /** Writes what a change leaves. The agent is open. */
  async close(agentId: string, change: ClosedAgent): Promise<void> {
    const { userId, createdAt, draftRevision, publishing = null, canary, versions = [], members } = change;
    await this.db.execute(
      `with versions as (
         insert into agent_versions ("agentId", number, "createdAt", "userId", note, members, "isPublished", "rolledBackTo", "overrideReason", content)
         select $1, number, $3, $2, note, members, "isPublished", "rolledBackTo", "overrideReason", content::json
         from json_to_recordset($9::json) as v (number int, note text, members text[], "isPublished" boolean, "rolledBackTo" int,
           "overrideReason" text, content text)
       ), changes as (
         insert into agent_draft_changes ("agentId", revision, "createdAt", "userId", members)
         select $1, $4, $3, $2, $8::text[] where $8::text[] is not null
       ), former as (
         delete from agent_draft_changes where "agentId" = $1 and revision <= $4::int - ${draftChangesMax}
       )
       update agents set "draftRevision" = $4, "isDraftChanged" = $5, "publishedVersion" = $6, publishing = coalesce($7, publishing),
         "canaryVersion" = case when $10 then $11 else "canaryVersion" end, "canaryPercent" = case when $10 then $12 else "canaryPercent" end,
         "canaryStartedAt" = case when $10 then $13 else "canaryStartedAt" end
       where id = $1`,
      [
        ...[agentId, userId, createdAt, draftRevision, change.isDraftChanged, change.publishedVersion, publishing],
        ...[members ?? null, JSON.stringify(versions), canary !== undefined],
        ...[canary?.version ?? null, canary?.percent ?? null, canary?.startedAt ?? null],
      ],
    );
    this.signals.publish('agent-changed', agentId);
  }

  /** How the draft of an agent and what people get go together; undefined when it is gone. */
  async findVersioning(id: string): Promise<AgentVersioning | undefined> {
    return (
      ((await this.db.prisma.agent.findUnique({ where: { id }, select: versioningColumns })) as AgentVersioning | null) ??
      undefined
    );
  }

  /** Marks a version as one that people get. The agent is open. */
  async markPublished(agentId: string, number: number, overrideReason: string | undefined): Promise<void> {
    const reason = overrideReason === undefined ? {} : { overrideReason };
    await this.db.prisma.agentVersion.updateMany({ where: { agentId, number }, data: { isPublished: true, ...reason } });
  }

  /** Newest first. */
  async list(agentId: string, page: PageRequest): Promise<Page<AgentVersion>> {
    const { agentVersion } = this.db.prisma;
    const direction = readingOrder('desc', page);
    const [after] = page.after ?? [];
    const place = typeof after === 'number' ? { number: { [direction === 'desc' ? 'lt' : 'gt']: after } } : {};
    const rows = await agentVersion.findMany({
      where: { agentId, ...place },
      orderBy: { number: direction },
      take: page.limit + 1,
      select: shownColumns,
    });
    return toPage(
      rows,
      page,
      ({ number }) => [number],
      (take) => agentVersion.count({ where: { agentId }, take }),
    );
  }

  /** Undefined when there is no such version. */
  async find(agentId: string, number: number): Promise<AgentVersion | undefined> {
    return (await this.db.prisma.agentVersion.findFirst({ where: { agentId, number }, select: shownColumns })) ?? undefined;
  }

  /** What a version holds. */
  async findContent(agentId: string, number: number): Promise<AgentContent | undefined> {
    const row = await this.db.prisma.agentVersion.findFirst({ where: { agentId, number }, select: { content: true } });
    return row === null ? undefined : (row.content as unknown as AgentContent);
  }

  /** What people get of those agents among some whose draft differs, with who may edit them, by the ids of the agents. */
  async findPublished(ids: readonly string[]): Promise<ReadonlyMap<string, PublishedContent>> {
    const rows = await this.db.query<PublishedRow>(
      `select a.id, v.content, array(select e."userId" from agent_editors e where e."agentId" = a.id) as "editorIds"
       from agents a join agent_versions v on v."agentId" = a.id and v.number = a."publishedVersion"
       where a.id = any($1::text[]) and a."isDraftChanged"`,
      [ids],
    );
    return new Map(rows.map(({ id, content, editorIds }) => [id, { content, editorIds: new Set(editorIds) }]));
  }

  /** The changes of drafts after a revision, oldest first, by the ids of the agents. */
  async listChangesSince(ids: readonly string[], revision: number): Promise<ReadonlyMap<string, readonly DraftChange[]>> {
    const rows = await this.db.prisma.agentDraftChange.findMany({
      where: { agentId: { in: [...ids] }, revision: { gt: revision } },
      orderBy: [{ agentId: 'asc' }, { revision: 'asc' }],
      select: { agentId: true, revision: true, userId: true, members: true },
    });
    return Map.groupBy(rows, ({ agentId }) => agentId);
  }
}
