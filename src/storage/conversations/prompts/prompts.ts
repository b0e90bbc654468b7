import type { Prompt, PromptVisibility } from '../../../entities/conversations/prompt.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Prisma } from '../../generated/client.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import { mergeLatest, newestFirst, readPage } from '../../ground/lists/paging.ts';
import { containing } from '../../ground/lists/where.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';

/** Whose prompts: a person's own, those shared with its groups, and those of the organization. */
export interface PromptReader {
  readonly orgId: string;
  readonly userId: string;
}

export type PromptChanges = Partial<Pick<Prompt, 'name' | 'command' | 'text' | 'visibility' | 'groupIds'>>;

/** `full`: its person has as many as may be. `taken`: another prompt of the person has the command. */
export type PromptWrite = 'written' | 'full' | 'taken' | 'missing';

export class PromptStore extends Store {
  /** Those among `ids` that the reader may use. */
  async findMany(ids: readonly string[], reader: PromptReader): Promise<readonly Prompt[]> {
    const where = { AND: [{ id: { in: [...ids] } }, { OR: [...alternatives(reader)] }] };
    return (await this.db.prisma.prompt.findMany({ where, include })).map(toPrompt);
  }

  /**
   * Newest first. Cost: one statement for each way in which the reader may use a prompt, and one for the rows of the page.
   *
   * @param onlyOwn  those of the reader itself.
   */
  async list(
    reader: PromptReader,
    { search, onlyOwn }: { readonly search?: string | undefined; readonly onlyOwn: boolean },
    page: PageRequest,
  ): Promise<Page<Prompt>> {
    const { prompt } = this.db.prisma;
    const matching = search === undefined ? [] : [{ OR: [{ name: containing(search) }, { command: containing(search) }] }];
    const ways = alternatives(reader).slice(0, onlyOwn ? 1 : undefined);
    const lists = await Promise.all(
      ways.map((way) =>
        prompt.findMany({
          ...newestFirst({ AND: [way, ...matching] }, page),
          select: { id: true, createdAt: true, rowBytes: true },
        }),
      ),
    );
    const places = mergeLatest(lists, ({ createdAt }) => createdAt, page);
    const { rows, foundCount } = await readPage(this.db, places, async (ids) =>
      (await prompt.findMany({ where: { id: { in: ids } }, include })).map(toPrompt),
    );
    const count = (take: number) => prompt.count({ where: { AND: [{ OR: [...ways] }, ...matching] }, take });
    return toPage(rows, page, timeKey, count, foundCount);
  }

  /** Writes of one person take turns, so that they cannot pass the limit together, nor give a command to two prompts. */
  create(row: Omit<Prompt, 'updatedAt'>, countMax: number): Promise<PromptWrite> {
    return this.db.transaction(async (tx) => {
      await lockRow(tx, 'users', row.userId);
      const { prompt } = tx.prisma;
      const { groupIds, ...data } = row;
      const owner = { orgId: row.orgId, userId: row.userId };
      if ((await prompt.count({ where: owner })) >= countMax) return 'full';
      if ((await prompt.count({ where: { ...owner, command: row.command } })) > 0) return 'taken';
      await prompt.create({ data: { ...data, groups: { create: groupIds.map((groupId) => ({ groupId })) } } });
      return 'written';
    });
  }

  update(id: string, owner: PromptReader, { groupIds, ...data }: PromptChanges): Promise<PromptWrite> {
    return this.db.transaction(async (tx) => {
      await lockRow(tx, 'users', owner.userId);
      const { prompt, promptGroup } = tx.prisma;
      const { orgId, userId } = owner;
      if ((await prompt.count({ where: { id, orgId, userId } })) === 0) return 'missing';
      const { command } = data;
      if (command !== undefined && (await prompt.count({ where: { orgId, userId, command, id: { not: id } } })) > 0)
        return 'taken';
      if ((await unlessMissing(prompt.update({ where: { id }, data, select: { id: true } }))) === undefined) return 'missing';
      if (groupIds !== undefined) {
        await promptGroup.deleteMany({ where: { promptId: id, groupId: { notIn: [...groupIds] } } });
        await promptGroup.createMany({ data: groupIds.map((groupId) => ({ promptId: id, groupId })), skipDuplicates: true });
      }
      return 'written';
    });
  }

  /** @returns false when it was gone. */
  async delete(id: string): Promise<boolean> {
    return (await this.db.prisma.prompt.deleteMany({ where: { id } })).count === 1;
  }
}

const include = { groups: { select: { groupId: true }, orderBy: { createdAt: 'asc' } } } as const satisfies Prisma.PromptInclude;

/** Each has an index that its list is read by. */
function alternatives({ orgId, userId }: PromptReader): readonly Prisma.PromptWhereInput[] {
  return [
    { orgId, userId },
    { orgId, visibility: 'ORGANIZATION' },
    { orgId, visibility: 'GROUP', groups: { some: { group: { members: { some: { userId } } } } } },
  ];
}

function toPrompt({
  groups,
  rowBytes: _bytes,
  ...row
}: Omit<Prompt, 'visibility' | 'groupIds'> & {
  readonly visibility: string;
  readonly rowBytes: number;
  readonly groups: readonly { readonly groupId: string }[];
}): Prompt {
  return { ...row, visibility: row.visibility as PromptVisibility, groupIds: groups.map(({ groupId }) => groupId) };
}
