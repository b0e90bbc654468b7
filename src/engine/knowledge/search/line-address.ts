import type { RankedChunk } from '../../../storage/knowledge/chunk-ranking.ts';

/** Files that a repository host shows as pages, where lines have no places: `plain=1` shows the source. */
const shownAsPage = /\.(md|markdown|mdown|mkdn?|mdx|rst|adoc|asciidoc|textile|rdoc|org|creole|mediawiki|wiki|pod)$/i;

/** The address of a passage of a file of a repository, with its lines, such as `…/blob/<commit>/src/main.ts#L10-L42`; else `url` as it is. */
export function atLines(
  url: string,
  { itemType, lineStart, lineEnd }: Pick<RankedChunk, 'itemType' | 'lineStart' | 'lineEnd'>,
): string {
  if (itemType !== 'REPO_HOST' || lineStart === null) return url;
  const lines = lineEnd === null || lineEnd <= lineStart ? `L${lineStart}` : `L${lineStart}-L${lineEnd}`;
  return `${url}${shownAsPage.test(url) ? '?plain=1' : ''}#${lines}`;
}
