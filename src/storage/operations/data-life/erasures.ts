// Raw SQL: sums of the ledger are merged, ratings leave the mean of their agent, and texts are taken out of JSON by one statement each.

import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Erasure, ErasureLine, ErasureStatus } from '../../../entities/operations/data-life/jobs.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { unlessHeld } from '../../ground/held-rows.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { PublishingStore } from '../../ground/store.ts';
import { noteRemoval } from '../../people/removals.ts';
import type { OwnedThings, Owner as Person } from '../ownership.ts';
import { anyTable, tableName } from './rows.ts';
import { type TableRule, tableRules } from './tables.ts';

type Counts = Readonly<Record<string, number>>;

export interface Holdings {
  readonly shared: OwnedThings;
  readonly own: Omit<OwnedThings, 'groupIds' | 'scheduleIds' | 'projectIds'>;
}

const rowsPerStatement = 2_000;
/** Rows of a person in no organization. */
const ofAccount: ReadonlySet<Prisma.ModelName> = new Set(['User', 'Password', 'Passkey']);

export class ErasureStore extends PublishingStore {
  async create(row: Omit<Erasure, 'status' | 'report' | 'endedAt'>): Promise<void> {
    await this.db.prisma.erasure.create({ data: row });
  }

  async find(id: string): Promise<Erasure | undefined> {
    const row = await this.db.prisma.erasure.findUnique({ where: { id } });
    return row === null ? undefined : toErasure(row);
  }

  async findMany(ids: readonly string[]): Promise<readonly Erasure[]> {
    return (await this.db.prisma.erasure.findMany({ where: { id: { in: [...ids] } } })).map(toErasure);
  }

  /** Newest first. */
  async list(orgId: string, page: PageRequest): Promise<Page<Erasure>> {
    const rows = await this.db.prisma.erasure.findMany(newestFirst({ orgId }, page));
    return toPage(rows.map(toErasure), page, timeKey, (take) => this.db.prisma.erasure.count({ where: { orgId }, take }));
  }

  async update(
    id: string,
    { report, ...changes }: { readonly status: ErasureStatus; readonly report: readonly ErasureLine[]; readonly endedAt?: Date },
  ): Promise<void> {
    await this.db.prisma.erasure.updateMany({
      where: { id },
      data: { ...changes, report: report as unknown as Prisma.InputJsonArray },
    });
  }

  /** Whether the organization has any row of the person. Cost: up to a statement for each table. */
  async hasAny(person: Person): Promise<boolean> {
    for (const model of Object.values(Prisma.ModelName)) {
      const rule: TableRule = tableRules[model];
      if ('leftOut' in rule || rule.ofPerson === undefined || ofAccount.has(model)) continue;
      if ((await anyTable(this.db, model).findMany({ where: rule.ofPerson(person), take: 1 })).length > 0) return true;
    }
    return false;
  }

  /** Whether others use what the person owns: `shared` is to be handed over, `own` to be deleted. Agents that were deleted before are own. */
  holdings(person: Person): Promise<Holdings> {
    return loadHoldings(this.db, person);
  }

  /** @returns how many were deleted; the others stay, because a legal hold keeps what other people left at them: memories and ratings. */
  async deleteAgents(ids: readonly string[]): Promise<number> {
    let total = 0;
    for (const id of ids) {
      const gone = await unlessHeld(this.db.transaction(({ prisma }) => prisma.agent.deleteMany({ where: { id } })));
      total += gone?.count ?? 0;
      this.signals.publish('agent-changed', id);
    }
    return total;
  }

  /** Chats of the person, also deleted ones of which a row is left. */
  async chatIds(person: Person, take: number): Promise<readonly string[]> {
    return (await this.db.prisma.chat.findMany({ where: { ...person }, select: { id: true }, take })).map(({ id }) => id);
  }

  async activeRunIds(person: Person): Promise<readonly string[]> {
    const where = { ...person, status: 'in_progress' };
    return listIds(await this.db.prisma.run.findMany({ where, select: { id: true } }));
  }

  /** Projects that the person still owns: nobody else uses them. @returns how many. */
  async deleteProjects({ orgId, userId }: Person): Promise<number> {
    return (await this.db.prisma.project.deleteMany({ where: { orgId, userId } })).count;
  }

  /** Removes what is left of a chat. */
  async deleteChat(id: string): Promise<void> {
    await this.db.prisma.chat.deleteMany({ where: { id } });
  }

  /** Files and uploads of the person. @returns the keys of their bytes, which are deleted before the rows. */
  async fileKeys({ orgId, userId }: Person): Promise<readonly string[]> {
    const where = { orgId, userId };
    const files = await this.db.prisma.file.findMany({ where, select: { blobKey: true } });
    const parts = await this.db.prisma.fileUploadPart.findMany({ where: { upload: where }, select: { blobKey: true } });
    return [...files, ...parts].map(({ blobKey }) => blobKey);
  }

  async deleteFiles({ orgId, userId }: Person): Promise<Counts> {
    const where = { orgId, userId };
    const files = await this.db.prisma.file.deleteMany({ where });
    return { files: files.count, file_uploads: (await this.db.prisma.fileUpload.deleteMany({ where })).count };
  }

  /** Experiments are about agents, which others have from now on. */
  async handOverExperiments({ orgId, userId }: Person, toUserId: string): Promise<number> {
    return (await this.db.prisma.experiment.updateMany({ where: { orgId, userId }, data: { userId: toUserId } })).count;
  }

  /** Prompts that others use become another person's; the rest are deleted. */
  async handOverPrompts(
    { orgId, userId }: Person,
    toUserId: string,
  ): Promise<{ readonly handedOver: number; readonly deleted: number }> {
    const { prompt } = this.db.prisma;
    const shared = { orgId, userId, visibility: { not: 'PRIVATE' } };
    const handedOver = (await prompt.updateMany({ where: shared, data: { userId: toUserId } })).count;
    return { handedOver, deleted: (await prompt.deleteMany({ where: { orgId, userId } })).count };
  }

  deleteRuns(person: Person, limit: number): Promise<number> {
    return this.db.transaction(async ({ prisma: { run, runEventBatch, responseItem } }) => {
      const ids = (await run.findMany({ where: { ...person }, select: { id: true }, take: limit })).map(({ id }) => id);
      const ofRuns = { runId: { in: ids } };
      await run.deleteMany({ where: { id: { in: ids } } });
      await runEventBatch.deleteMany({ where: ofRuns });
      await responseItem.deleteMany({ where: ofRuns });
      if (ids.length === 0) await responseItem.deleteMany({ where: { ...person } });
      return ids.length;
    });
  }

  deleteRatings({ orgId, userId }: Person): Promise<number> {
    return this.db.execute(
      `with gone as (
           delete from agent_ratings where "userId" = $2 and "agentId" in (select id from agents where "orgId" = $1) returning "agentId", rating
         )
         update agents set "ratingCount" = greatest("ratingCount" - 1, 0), "ratingSum" = greatest("ratingSum" - gone.rating, 0)
         from gone where agents.id = gone."agentId"`,
      [orgId, userId],
    );
  }

  /** Takes the person out of the versions of agents that stay. @returns how many versions were changed. */
  async pseudonymiseVersions({ orgId, userId }: Person): Promise<number> {
    const { agentVersion, agentDraftChange } = this.db.prisma;
    const made = { where: { userId, agent: { orgId } }, data: { userId: null } };
    await agentDraftChange.updateMany(made);
    return (await agentVersion.updateMany(made)).count;
  }

  /** Rows that need nothing but to go: `delete` in tables.ts. */
  deleteRest(person: Person): Promise<Counts> {
    return deleteRest(this.db, person);
  }

  /** Takes the person out of the ledger: its rows and sums stay, as nobody's. @returns how many rows were changed. */
  pseudonymiseUsage(person: Person): Promise<number> {
    return pseudonymiseUsage(this.db, person);
  }

  /** Takes out e-mail and network address of the person, the names that the person gave or had, and the e-mail wherever else it stands. The ids stay. */
  pseudonymiseAudit(person: Person, email: string): Promise<number> {
    return pseudonymiseAudit(this.db, person, email);
  }

  deleteKeys(person: Person): Promise<Counts> {
    return deleteKeys(this.db, this.signals, person);
  }

  /** Legal holds about the person. */
  countHolds({ orgId, userId }: Person): Promise<number> {
    return this.db.prisma.legalHold.count({ where: { orgId, userId } });
  }

  /** The user itself, where no organization has it any more. @returns `held`: a legal hold of another organization keeps what the person has there. */
  async deleteUser(userId: string): Promise<'gone' | 'member' | 'held'> {
    const deletion = this.db.transaction(async ({ prisma }) => {
      const isGone = (await prisma.user.deleteMany({ where: { id: userId, memberships: { none: {} } } })).count === 1;
      return isGone || (await prisma.user.count({ where: { id: userId } })) === 0 ? 'gone' : 'member';
    });
    return (await unlessHeld(deletion)) ?? 'held';
  }
}

async function loadHoldings({ prisma }: Database, { orgId, userId }: Person): Promise<Holdings> {
  const select = { id: true } as const;
  const isUsed = { OR: [{ visibility: { not: 'PRIVATE' } }, { editors: { some: {} } }, { groups: { some: {} } }] };
  const owner = { orgId, userId };
  const agents = await prisma.agent.findMany({ where: owner, select });
  const sharedAgents = await prisma.agent.findMany({ where: { ...owner, isDeleted: false, ...isUsed }, select });
  const sharedIds = listIds(sharedAgents);
  const ofOwner = { orgId, ownerUserId: userId };
  const sources = await prisma.dataSource.findMany({ where: ofOwner, select });
  const attachedSources = { agents: { some: { OR: [{ agentId: { in: sharedIds } }, { agent: { userId: { not: userId } } }] } } };
  const usedSources = await prisma.dataSource.findMany({
    where: { ...ofOwner, deletingAt: null, OR: [{ orgVisible: true }, attachedSources] },
    select,
  });
  const isShared = new Set([...sharedIds, ...listIds(usedSources)]);
  return {
    shared: {
      agentIds: sharedIds,
      dataSourceIds: listIds(usedSources),
      groupIds: listIds(await prisma.group.findMany({ where: ofOwner, select })),
      // What the person asked agents is the person's own.
      scheduleIds: [],
      projectIds: listIds(await prisma.project.findMany({ where: { ...owner, groups: { some: {} } }, select })),
    },
    own: {
      agentIds: listIds(agents).filter((id) => !isShared.has(id)),
      dataSourceIds: listIds(sources).filter((id) => !isShared.has(id)),
    },
  };
}

async function deleteRest(db: Database, person: Person): Promise<Counts> {
  const counts: Record<string, number> = { permission_principals: await deletePrincipals(db, person) };
  for (const model of Object.values(Prisma.ModelName)) {
    const rule: TableRule = tableRules[model];
    if ('leftOut' in rule || rule.erase !== 'delete' || rule.ofPerson === undefined) continue;
    let total = 0;
    for (;;) {
      const { count } = await anyTable(db, model).deleteMany({ where: rule.ofPerson(person), limit: rowsPerStatement });
      total += count;
      if (count < rowsPerStatement) break;
    }
    counts[tableName(model)] = total;
  }
  await db.prisma.passkeyChallenge.deleteMany({ where: { userId: person.userId } });
  await db.prisma.invitation.updateMany({
    where: { orgId: person.orgId, invitedByUserId: person.userId },
    data: { invitedByUserId: '', invitedByKeyId: null },
  });
  await db.prisma.signInLink.deleteMany({ where: { orgId: person.orgId, createdByUserId: person.userId } });
  // Groups and invitations name people by e-mail before they are users.
  const user = await db.prisma.user.findUnique({ where: { id: person.userId }, select: { email: true } });
  if (user !== null) {
    const { count } = await db.prisma.groupMember.deleteMany({ where: { email: user.email, group: { orgId: person.orgId } } });
    await db.prisma.invitation.deleteMany({ where: { email: user.email, orgId: person.orgId } });
    counts.group_members = (counts.group_members ?? 0) + count;
  }
  await db.prisma.agentSecret.updateMany({
    where: { givenByUserId: person.userId, agent: { orgId: person.orgId } },
    data: { givenByUserId: null },
  });
  return counts;
}

/** By which sources name the person: the e-mails and accounts that are known to be the person's. A source that names the person still brings them back. */
async function deletePrincipals({ prisma }: Database, { orgId, userId }: Person): Promise<number> {
  const user = await prisma.user.findUnique({ where: { id: userId }, select: { email: true } });
  const accounts = await prisma.personAccount.findMany({ where: { orgId, userId } });
  const emails = [user?.email, ...accounts.map(({ verifiedEmail }) => verifiedEmail)].flatMap(
    (email) => email?.toLowerCase() ?? [],
  );
  const accountKeys = accounts.map(({ service, accountId }) => `${service} ${accountId}`);
  const named = [
    { kind: 'email', key: { in: emails } },
    { kind: 'account', key: { in: accountKeys } },
  ];
  return (await prisma.permissionPrincipal.deleteMany({ where: { orgId, OR: named } })).count;
}

function pseudonymiseUsage(db: Database, { orgId, userId }: Person): Promise<number> {
  return db.transaction(async (tx) => {
    const subjects = `((dimension = 'user' and value = $2) or (dimension = 'key' and value in (select id from api_keys where "orgId" = $1 and "userId" = $2)
      or dimension = 'key' and value in (select id from sessions where "orgId" = $1 and "userId" = $2)
      or dimension = 'key' and value in (select id from schedules where "orgId" = $1 and "userId" = $2)))`;
    await tx.execute(
      `with gone as (delete from usage_sums where "orgId" = $1 and ${subjects} returning *)
       insert into usage_sums as kept ("orgId", dimension, day, value, "dataTokens", "apiTokens", "cost")
       select "orgId", dimension, day, '', sum("dataTokens"), sum("apiTokens"), sum("cost") from gone group by 1, 2, 3
       on conflict ("orgId", dimension, day, value) do update
         set "dataTokens" = kept."dataTokens" + excluded."dataTokens", "apiTokens" = kept."apiTokens" + excluded."apiTokens",
           "cost" = kept."cost" + excluded."cost"`,
      [orgId, userId],
    );
    const pseudonym = { userId: '', keyId: null };
    return (await tx.prisma.usageEntry.updateMany({ where: { orgId, userId }, data: pseudonym })).count;
  });
}

async function pseudonymiseAudit(db: Database, { orgId, userId }: Person, email: string): Promise<number> {
  const actorUpdate = await db.prisma.auditEntry.updateMany({
    where: { orgId, actorUserId: userId },
    // The receiver of AUDIT_SINK_URL gets what is left of the entry, and can forget the rest too.
    data: { actorEmail: '', address: null, sinkPosition: null },
  });
  const escapedEmail = JSON.stringify(email).slice(1, -1);
  const about = await db.execute(
    `update audit_entries set changes = replace(changes::text, $2, '[erased]')::jsonb, "sinkPosition" = null
     where "orgId" = $1 and $2 <> '' and strpos(changes::text, $2) > 0`,
    [orgId, escapedEmail],
  );
  // What the person called things, and what the person was called.
  const namedCount = await db.execute(
    `update audit_entries entry set changes = (
       select coalesce(jsonb_agg(case when change ->> 'member' ~ '(^|\\.)(name|email|editors|memberEmails.*)$' then change - 'value' - 'before' else change end order by place), '[]')
       from jsonb_array_elements(entry.changes) with ordinality as given(change, place)), "sinkPosition" = null
     where "orgId" = $1 and ("actorUserId" = $2 or $2 = any("targetIds")) and jsonb_typeof(changes) = 'array'`,
    [orgId, userId],
  );
  // What others replaced may be a name that the person gave.
  const replacedCount = await db.execute(
    `update audit_entries entry set changes = (
       select jsonb_agg(case when change ->> 'member' ~ '(^|\\.)(name|email)$' then change - 'before' else change end order by place)
       from jsonb_array_elements(entry.changes) with ordinality as given(change, place)), "sinkPosition" = null
     where "orgId" = $1 and "actorUserId" <> $2 and jsonb_typeof(changes) = 'array' and jsonb_path_exists(changes, '$[*].before')
       and "targetIds"[1] in (select "targetIds"[1] from audit_entries where "orgId" = $1 and "actorUserId" = $2)`,
    [orgId, userId],
  );
  return Math.max(actorUpdate.count, namedCount) + about + replacedCount;
}

async function deleteKeys({ prisma }: Database, signals: Signals, { orgId, userId }: Person): Promise<Counts> {
  const where = { orgId, userId };
  const keys = await prisma.apiKey.findMany({ where, select: { id: true } });
  const ids = keys.map(({ id }) => id);
  const { count: replies } = await prisma.idempotencyRecord.deleteMany({ where: { keyId: { in: ids } } });
  await prisma.rateBucket.deleteMany({ where: { id: { in: ids.map((id) => `key ${id}`) } } });
  await prisma.apiKey.updateMany({
    where: { orgId, createdByUserId: userId },
    data: { createdByUserId: null, createdByKeyId: null },
  });
  const { count } = await prisma.apiKey.deleteMany({ where });
  // Somebody may have added the person again since the erasure was asked for.
  await noteRemoval({ prisma }, signals, orgId, userId);
  await prisma.membership.deleteMany({ where });
  signals.publish('user-changed', userId);
  return { api_keys: count, idempotency_records: replies };
}

function listIds(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

type ErasureRow = Omit<Erasure, 'status' | 'report'> & { readonly status: string; readonly report: unknown };
function toErasure(row: ErasureRow): Erasure {
  return { ...row, status: row.status as ErasureStatus, report: row.report as readonly ErasureLine[] };
}
