// Raw SQL: tags are added to and taken from arrays of several chats by one statement, and counted.
import type { ChatPlaceChanges, ChatTag } from '../../../entities/conversations/chats/place.ts';
import { Parameters } from '../../ground/sql/where.ts';
import { PublishingStore } from '../../ground/store.ts';

/** Chats with a tag that are counted, the ones changed last. */
const countedChatsMax = 10_000;
const listedTagsMax = 200;

/** The archive, the tags and the projects of chats. */
export class ChatPlaceStore extends PublishingStore {
  /**
   * Changes the places of chats; their order in lists stays. One statement.
   *
   * @returns the ids of those that are there, and changed. A chat that would have more than `tagsMax` tags does not change.
   */
  async change(ids: readonly string[], changes: ChatPlaceChanges, tagsMax: number): Promise<readonly string[]> {
    const parameters = new Parameters();
    const { assignments, tags } = toAssignments(parameters, changes);
    if (assignments.length === 0) return ids;
    const rows = await this.db.query<{ readonly id: string }>(
      `update chats set ${assignments.join(', ')}
       where id = any(${parameters.add(ids)}::text[]) and "deletedAt" is null
         ${tags === undefined ? '' : `and cardinality(${tags}) <= ${parameters.add(tagsMax)}::int`}
       returning id`,
      parameters.values,
    );
    for (const { id } of rows) this.signals.publish('chat-changed', id);
    return rows.map(({ id }) => id);
  }

  /** The tags of a person's chats, the ones of the most chats first, at most 200. */
  tagsOf({ userId, orgId }: { readonly userId: string; readonly orgId: string }): Promise<readonly ChatTag[]> {
    return this.db.query<ChatTag>(
      `select tag as name, count(*)::int as "chatCount" from (
         select tags from chats where "userId" = $1 and "orgId" = $2 and "deletedAt" is null and tags <> '{}'
         order by "updatedAt" desc, id desc limit ${countedChatsMax}) tagged cross join unnest(tags) tag
       group by tag order by count(*) desc, tag limit ${listedTagsMax}`,
      [userId, orgId],
    );
  }
}

/** @returns also the expression of the new tags; undefined when they stay. */
function toAssignments(
  parameters: Parameters,
  { archivedAt, projectId, tags, addedTags = [], removedTags = [] }: ChatPlaceChanges,
): { readonly assignments: readonly string[]; readonly tags: string | undefined } {
  const assignments: string[] = [];
  // An archived chat keeps the time at which it was archived.
  if (archivedAt === null) assignments.push('"archivedAt" = null');
  else if (archivedAt !== undefined) {
    assignments.push(`"archivedAt" = coalesce("archivedAt", ${parameters.add(archivedAt.toISOString())}::timestamptz)`);
  }
  if (projectId !== undefined) assignments.push(`"projectId" = ${parameters.add(projectId)}::text`);
  const isKept = tags === undefined && addedTags.length === 0 && removedTags.length === 0;
  if (isKept) return { assignments, tags: undefined };
  const before = tags === undefined ? 'tags' : `${parameters.add(tags)}::text[]`;
  const changedTags = `array(
    select tag from unnest(${before} || ${parameters.add(addedTags)}::text[]) with ordinality given(tag, place)
    where tag <> all (${parameters.add(removedTags)}::text[]) group by tag order by min(place))`;
  assignments.push(`tags = ${changedTags}`);
  return { assignments, tags: changedTags };
}
