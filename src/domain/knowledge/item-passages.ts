import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { KnowledgePassage, StoredPassage } from '../../entities/knowledge/passage.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { keepOpenItems } from './permissions/open-items.ts';

/**
 * A page of the passages of each item, in the order of the items. Access is checked where the items are found.
 *
 * Cost: three statements for any number of items.
 */
export async function listPassagesOfItems(
  deps: Deps,
  caller: Caller,
  items: readonly KnowledgeItem[],
  page: PageRequest,
): Promise<readonly Page<KnowledgePassage>[]> {
  // Whoever may see an item may be an administrator, who sees its name only.
  const openItems = await keepOpenItems(deps, caller, items);
  const passagesByItem = await deps.storage.knowledge.items.passagesOf(
    openItems.map(({ id }) => id),
    page,
  );
  return items.map(({ id }) => {
    const read = passagesByItem.get(id);
    if (read === undefined) return emptyPage(page);
    const { rows, count, from, to } = read;
    const passages = rows.map((row, index) => toPassage(row, rows[index - 1])).filter(({ place }) => place >= from);
    const toPlaceKey = ({ place }: KnowledgePassage) => [place];
    return {
      items: passages,
      hasNextPage: to < count,
      hasPreviousPage: from > 0,
      keyOf: toPlaceKey,
      countAll: async () => count,
    };
  });
}

function toPassage(row: StoredPassage, before: StoredPassage | undefined): KnowledgePassage {
  const { ordinal, headingPath, page, charStart, charEnd } = row;
  return {
    ...{ place: ordinal, text: toText(row, before), headingPath: headingPath === '' ? null : headingPath },
    ...{ page, charStart, charEnd },
  };
}

type Text = Pick<StoredPassage, 'ordinal' | 'text' | 'gapBefore' | 'charStart' | 'charEnd'>;

/** The text of a passage without what the one before it says already, with the white space between them. */
export function toText({ ordinal, text, gapBefore, charStart }: Text, before: Pick<Text, 'charEnd'> | undefined): string {
  const overlap = before === undefined ? 0 : before.charEnd - charStart;
  return overlap > 0 ? text.slice(overlap) : (ordinal === 0 ? '' : gapBefore) + text;
}
