import { pageHeaders } from '../http/page/page.ts';
import type { SearchEntry } from '../http/page/search-entry.ts';
import { jsonType } from '../http/reply/reply.ts';
import { StaticContent } from '../http/reply/static.ts';
import type { ManualPage } from './manual/read.ts';

/**
 * What the search of the header looks through, as one file that a script of the page filters: every part of the manual, and every operation. It is
 * made for its first reader.
 */
export function searchIndex(
  readPages: () => Promise<readonly ManualPage[]>,
  operations: () => readonly SearchEntry[],
): StaticContent {
  return new StaticContent(['content-type', jsonType, ...pageHeaders], async () =>
    JSON.stringify([...(await readPages()).flatMap(listEntries), ...operations()]),
  );
}

function listEntries({ address, group, label, title, sections }: ManualPage): readonly SearchEntry[] {
  return sections.map(({ id, depth, heading, text }) => ({
    kind: 'manual',
    title: plain(depth === 1 ? title : heading),
    detail: plain(depth === 1 ? group : label),
    address: depth === 1 ? address : `${address}#${id}`,
    text: plain(text),
  }));
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** HTML without elements, as the text that it shows. */
function plain(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity).replace(/\s+/g, ' ');
}
