import { posix } from 'node:path';
import type { Archive } from './archive.ts';

/** A relation of a part of an Office document. */
export interface PartRelation {
  /** The last word of its type: `slide`, `footnotes`, `hyperlink`. */
  readonly type: string;
  /** The name of the other part in the archive, or an address. */
  readonly target: string;
  readonly isExternal: boolean;
}

/** Relations of a part by id; empty when it has none. @param part  `''` for the whole package. */
export async function loadRelations(archive: Archive, part: string): Promise<ReadonlyMap<string, PartRelation>> {
  const folder = posix.dirname(part);
  const relations = new Map<string, PartRelation>();
  await archive.xml(posix.join(folder, '_rels', `${posix.basename(part)}.rels`), {
    open(name, { Id, Type = '', Target = '', TargetMode }) {
      if (name !== 'Relationship' || Id === undefined) return;
      const isExternal = TargetMode === 'External';
      // Joined below the root, so that no target leads out of the archive.
      const inside = posix.join('/', Target.startsWith('/') ? '' : folder, Target).slice(1);
      relations.set(Id, { type: lastWord(Type), target: isExternal ? Target : inside, isExternal });
    },
  });
  return relations;
}

/** The first part that a relation of this type leads to. */
export function findPart(relations: ReadonlyMap<string, PartRelation>, type: string): string | undefined {
  return [...relations.values()].find((relation) => relation.type === type && !relation.isExternal)?.target;
}

/** How many charts an Office document holds. */
export function chartsIn(archive: Archive): number {
  return archive.names.filter((name) => /(?:^|\/)charts\/chart(?:ex)?\d{0,9}\.xml$/i.test(name)).length;
}

/** The title that the author or the program gave to a document; null for those that programs make up. */
export async function packageTitle(archive: Archive): Promise<string | null> {
  const part = findPart(await loadRelations(archive, ''), 'core-properties');
  if (part === undefined) return null;
  let isTitle = false;
  let title = '';
  await archive.xml(part, {
    open: (name) => {
      isTitle = name === 'title';
    },
    close: () => {
      isTitle = false;
    },
    text: (text) => {
      if (isTitle) title += text;
    },
  });
  return givenTitle(title);
}

/** A title that a person gave; null for those that programs make up. */
export function givenTitle(title: string): string | null {
  const isMadeUp =
    /^(?:PowerPoint[ -]|Presentation$|Microsoft (?:Word|Excel|PowerPoint)|Untitled|Slide 1$|Document\d*$|Mappe\d*$)/i.test(
      title.trim(),
    );
  return !/[\p{L}\p{N}]/u.test(title) || isMadeUp ? null : title.trim();
}

function lastWord(type: string): string {
  return type.slice(type.lastIndexOf('/') + 1);
}
