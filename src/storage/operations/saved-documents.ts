import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { SavedDocument } from '../../entities/operations/saved-document.ts';
import type { Database } from '../ground/database.ts';
import { InvalidatedCache } from '../ground/invalidated-cache.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { PublishingStore } from '../ground/store.ts';

/** Organizations whose documents a process keeps in memory. */
const organizationsMax = 1_000;

/** The documents of an organization, as calls look them up. */
export interface DocumentsOfOrganization {
  /** By name, in the order of names. */
  readonly byName: ReadonlyMap<string, SavedDocument>;
  /** The texts by their hashes. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Documents of GraphQL that organizations have saved. */
export class SavedDocumentStore extends PublishingStore {
  readonly #cache: InvalidatedCache<DocumentsOfOrganization>;
  readonly #load = async (orgId: string): Promise<DocumentsOfOrganization> => {
    const rows = await this.db.prisma.savedDocument.findMany({ where: { orgId }, orderBy: { name: 'asc' } });
    return {
      byName: new Map(rows.map((row) => [row.name, row])),
      texts: new Map(rows.map(({ hash, document }) => [hash, document])),
    };
  };

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.#cache = new InvalidatedCache(signals, organizationsMax);
    signals.subscribe('saved-documents-changed', (orgId) => this.#cache.forget((_documents, key) => key === orgId));
  }

  /** All of an organization. A value when they are known: no statement. */
  findAll(orgId: string, nowMs: number): DocumentsOfOrganization | Promise<DocumentsOfOrganization> {
    return this.#cache.find(orgId, nowMs, this.#load) as DocumentsOfOrganization | Promise<DocumentsOfOrganization>;
  }

  /** Newest first. */
  async list(orgId: string, page: PageRequest): Promise<Page<SavedDocument>> {
    const rows = await this.db.prisma.savedDocument.findMany(newestFirst({ orgId }, page));
    return toPage(rows, page, timeKey, (take) => this.db.prisma.savedDocument.count({ where: { orgId }, take }));
  }

  /** @param ids  ids or names. */
  findMany(ids: readonly string[], orgId: string): Promise<readonly SavedDocument[]> {
    const either = [...ids];
    return this.db.prisma.savedDocument.findMany({ where: { orgId, OR: [{ id: { in: either } }, { name: { in: either } }] } });
  }

  count(orgId: string): Promise<number> {
    return this.db.prisma.savedDocument.count({ where: { orgId } });
  }

  /** Adds the document, or changes that of its name. */
  async set(saved: Omit<SavedDocument, 'updatedAt'>): Promise<SavedDocument> {
    const { orgId, name, description, document, hash } = saved;
    const row = await this.db.prisma.savedDocument.upsert({
      where: { orgId_name: { orgId, name } },
      create: saved,
      update: { description, document, hash },
    });
    this.signals.publish('saved-documents-changed', orgId);
    return row;
  }

  async delete(id: string, orgId: string): Promise<boolean> {
    const { count } = await this.db.prisma.savedDocument.deleteMany({ where: { id, orgId } });
    this.signals.publish('saved-documents-changed', orgId);
    return count > 0;
  }
}
