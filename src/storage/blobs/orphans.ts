import type { Database } from '../ground/database.ts';

/** Finds blobs that no row names: a process died after it wrote the blob and before it wrote the row. Cost: one statement for each kind of blob among the keys. */
export class OrphanBlobStore {
  /** Those of the keys that a row names, or the id in them. */
  readonly #named: Readonly<Record<string, (keys: string[]) => Promise<readonly (string | null)[]>>>;

  constructor(db: Database) {
    this.#named = {
      async knowledge(keys) {
        const where = { id: { in: keys.map(idIn) } };
        return (await db.prisma.knowledgeItem.findMany({ where, select: { id: true } })).map(({ id }) => id);
      },
      async files(keys) {
        return listKeys(await db.prisma.file.findMany({ where: { blobKey: { in: keys } }, select }));
      },
      async uploads(keys) {
        return listKeys(await db.prisma.fileUploadPart.findMany({ where: { blobKey: { in: keys } }, select }));
      },
      async 'chat-files'(keys) {
        return listKeys(await db.prisma.chatFile.findMany({ where: { blobKey: { in: keys } }, select }));
      },
      async 'code-states'(keys) {
        return listKeys(await db.prisma.codeState.findMany({ where: { blobKey: { in: keys } }, select }));
      },
      async exports(keys) {
        const where = { id: { in: keys.map(idIn) } };
        return (await db.prisma.dataExport.findMany({ where, select: { id: true } })).map(({ id }) => id);
      },
      async 'chat-imports'(keys) {
        return listKeys(await db.prisma.chatImport.findMany({ where: { blobKey: { in: keys } }, select }));
      },
      'run-files': async () => [],
    };
  }

  /** The keys among these that no row names; of files of stateless runs, all. Keys of an unknown kind are never returned. */
  async among(keys: readonly string[]): Promise<readonly string[]> {
    const orphans: string[] = [];
    for (const [kind, ofKind] of Map.groupBy(keys, (key) => key.split('/')[1] ?? '')) {
      const names = new Set(await this.#named[kind]?.(ofKind));
      if (kind in this.#named) orphans.push(...ofKind.filter((key) => !names.has(key) && !names.has(idIn(key))));
    }
    return orphans;
  }
}

const select = { blobKey: true } as const;

function listKeys(rows: readonly { readonly blobKey: string | null }[]): readonly (string | null)[] {
  return rows.map(({ blobKey }) => blobKey);
}

/** `organization/kind/id/…` */
function idIn(key: string): string {
  return key.split('/')[2] ?? '';
}
