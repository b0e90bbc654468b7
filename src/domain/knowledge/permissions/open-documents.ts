import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { type Page, type PageRequest, timeKey } from '../../../entities/ground/page.ts';
import type { KnowledgeItem } from '../../../entities/knowledge/data-source.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Opening } from '../../../storage/knowledge/permissions/openings.ts';
import type { Deps } from '../../deps.ts';
import { readItemQuery } from '../items.ts';
import { getMirroredSource } from './mirrored-source.ts';

/** A document of a MIRRORED source that a person may open. It has no text: whoever asks may not be allowed to open it. */
export interface OpenDocument extends Pick<KnowledgeItem, 'id' | 'createdAt' | 'name' | 'indexStatus'> {
  /** One entry for each access list of the document: what names the person there, at least one. */
  readonly openings: readonly (readonly Opening[])[];
}

/** Whose documents are asked for, and of which source. */
export interface OpenDocumentQuery {
  readonly dataSourceId: string;
  readonly userId: string;
  /** Searched in the name, ignoring case; blank matches all. */
  readonly search?: string | null | undefined;
}

const openingsMax = 10;

/**
 * What a person can see in a MIRRORED source, oldest first, and why: for administrators of its organization. Each asking is an entry of the audit log that
 * names the source and the person. Decided by what is stored now: nothing that was remembered counts, and a document without a reason is not listed.
 *
 * @throws DomainError NOT_FOUND for a source that the caller may not see, and for somebody who is no member of its organization; FORBIDDEN for everyone
 * except administrators; CONFLICT for a source that is LENT; INVALID_VALUE for `search`.
 */
export async function listOpenDocuments(
  deps: Deps,
  caller: Caller,
  { dataSourceId, userId, search }: OpenDocumentQuery,
  page: PageRequest,
): Promise<Page<OpenDocument>> {
  const query = readItemQuery({ search });
  const refusal = 'Only administrators may ask what somebody can see in a data source';
  const source = await getMirroredSource(deps, caller, dataSourceId, refusal);
  const role = isId('user', userId) ? await deps.storage.people.accounts.findRole(source.orgId, userId) : undefined;
  if (role === undefined) throw new DomainError('NOT_FOUND', 'There is no such person', { param: 'userId' });
  const { items, permissions } = deps.storage.knowledge;
  const reader = { orgId: source.orgId, userId, keyId: null };
  const gate = await permissions.gates.open(reader, [source.id]);
  // A source that turned LENT since: the caller asks again, and is told so.
  if (gate === undefined)
    throw new DomainError('CONFLICT', 'The access of the source has just changed', { param: 'dataSourceId' });
  const itemPage = await items.list(source.id, { ...query, gate }, page, undefined);
  const openingsByItem = await permissions.openingsOf(
    reader,
    source.id,
    itemPage.items.map(({ id }) => id),
  );
  deps.audit.lookUp(caller, [source, { id: userId, orgId: source.orgId }]);
  const documents = itemPage.items.flatMap(({ id, createdAt, name, indexStatus }) => {
    const openings = openingsByItem.get(id)?.map((list) => list.slice(0, openingsMax));
    return openings === undefined ? [] : [{ id, createdAt, name, indexStatus, openings }];
  });
  // Where the page goes on does not depend on what was left out of it.
  const [first, last] = [itemPage.items[0], itemPage.items.at(-1)];
  const bounds = first === undefined || last === undefined ? {} : { startKey: timeKey(first), endKey: timeKey(last) };
  return { ...itemPage, ...bounds, items: documents, keyOf: timeKey };
}
