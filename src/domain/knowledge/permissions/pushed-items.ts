import { Readable } from 'node:stream';
import { itemJobs, queueNewItems } from '../../../engine/knowledge/queue.ts';
import type { ItemAccess } from '../../../entities/knowledge/permissions.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { PushedItem } from '../../../storage/knowledge/permissions/pushed-items.ts';
import type { Deps } from '../../deps.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';
import { editableSource } from '../sources.ts';
import { readAccessList } from './acl.ts';
import { pushedPlace, requireGroups, requirePushed } from './rosters.ts';

export interface PushedItemInput {
  /** The caller's own id of the document. */
  readonly uniqueId: string;
  readonly name?: string | null | undefined;
  /** Markdown. Absent: the text stays; of a new document it is required. */
  readonly text?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly acl: readonly string[];
  /** Further lists: a person must be named by each of them, too. */
  readonly restrictions?: readonly { readonly anyOf: readonly string[] }[] | null | undefined;
}
export interface PushInput {
  readonly items?: readonly PushedItemInput[] | null | undefined;
  readonly removedIds?: readonly string[] | null | undefined;
}
/** What became of a push. */
export interface PushedItems {
  readonly addedCount: number;
  readonly changedCount: number;
  readonly removedCount: number;
  /** Items of which another person may open them than before. */
  readonly permissionsChangedCount: number;
}

const itemsMax = 100;
const removedMax = 1_000;
const restrictionsMax = 20;
const idCharsMax = 500;
const nameCharsMax = 200;
const urlCharsMax = 2_000;

/**
 * Adds documents to a MIRRORED API source, changes them, and removes some: all or none. Who may open a document counts at once; its text is found once
 * it is indexed. Without a text only its name, address and permissions change.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except the owner of the source and administrators; with every fault of the input: an unknown
 * form in a list, an empty list, more than 10,000 principals, a group that the source does not have.
 */
export async function pushItems(deps: Deps, caller: Caller, id: string, input: PushInput): Promise<PushedItems> {
  const source = await editableSource(deps, caller, id, 'change');
  requirePushed(source);
  const faults = new Faults();
  const items = input.items ?? [];
  const removedIds = input.removedIds ?? [];
  if (items.length + removedIds.length === 0)
    faults.add('items', 'items or removedIds must name at least one document', 'EMPTY_ARRAY');
  faults.requireCount('items', items, itemsMax);
  faults.requireCount('removedIds', removedIds, removedMax);
  const groupKeys = new Map<string, string>();
  const accesses = items.slice(0, itemsMax).map((item, index) => readItem(item, `items[${index}]`, faults, groupKeys));
  await requireGroups(deps, source, groupKeys, faults);
  faults.throwIfAny();
  const { storage, jobs } = deps;
  const existingIds = new Set(
    await storage.knowledge.permissions.pushed.existing(
      id,
      items.map(({ uniqueId }) => uniqueId),
    ),
  );
  for (const [index, { uniqueId, text }] of items.entries()) {
    if (existingIds.has(uniqueId) || typeof text === 'string') continue;
    faults.add(
      `items[${index}].text`,
      `items[${index}].text is required: the source has no document "${uniqueId}"`,
      'MISSING_REQUIRED_PARAMETER',
    );
  }
  faults.throwIfAny();
  const pushed: PushedItem[] = [];
  const change = async () => {
    for (const item of items) pushed.push(await storeText(deps, source.orgId, item));
    return deps.audit.change(caller, () => {
      const owner = { id, orgId: source.orgId, tenantId: caller.tenantId };
      const written = { items: pushed, accesses, removedIds, runId: deps.newId('sourceRun') };
      return storage.knowledge.permissions.push(pushedPlace(source), owner, written, {
        index: itemJobs(jobs),
        indexNew: (tx, added) => queueNewItems(jobs, owner, added, tx),
        remove: itemJobs(jobs, 'knowledge.delete-item'),
      });
    });
  };
  const { unusedBlobKeys, ...counts } = await change().catch(async (error: unknown) => {
    await removeBlobs(
      deps,
      pushed.flatMap(({ contentBlobKey }) => contentBlobKey ?? []),
    );
    throw error;
  });
  // Once the rows are stored: until then, the texts of before are those of the documents.
  await removeBlobs(deps, unusedBlobKeys);
  return counts;
}

function readItem(item: PushedItemInput, at: string, faults: Faults, groupKeys: Map<string, string>): ItemAccess {
  const { uniqueId, name, url, acl, restrictions } = item;
  faults.requireName(`${at}.uniqueId`, uniqueId, idCharsMax);
  if (typeof name === 'string') faults.requireName(`${at}.name`, name, nameCharsMax);
  if (typeof url === 'string') {
    faults.requireLength(`${at}.url`, url, urlCharsMax);
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) faults.add(`${at}.url`, `${at}.url must be an http or https address`);
  }
  const further = restrictions ?? [];
  faults.requireCount(`${at}.restrictions`, further, restrictionsMax);
  const first = readAccessList(acl, `${at}.acl`, faults, groupKeys);
  const others = further
    .slice(0, restrictionsMax)
    .map(({ anyOf }, index) => readAccessList(anyOf, `${at}.restrictions[${index}].anyOf`, faults, groupKeys));
  return { uniqueId, permissions: { lists: [first, ...others] } };
}

async function storeText({ storage, settings, newId }: Deps, orgId: string, item: PushedItemInput): Promise<PushedItem> {
  const { uniqueId, name, text, url } = item;
  const id = newId('knowledgeItem');
  const common = { id, uniqueId, name: name?.trim(), contentUrl: url };
  if (typeof text !== 'string') return { ...common, contentBlobKey: null, sizeBytes: null };
  const contentBlobKey = `${orgId}/knowledge/${id}-${newId('upload')}`;
  const { sizeBytes } = await storage.blobs.put(contentBlobKey, Readable.from([text]), settings.UPLOAD_MAX_BYTES);
  return { ...common, contentBlobKey, sizeBytes };
}
