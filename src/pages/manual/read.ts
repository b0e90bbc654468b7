import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGroups } from './groups.ts';
import type { Section } from './markdown.ts';

export interface ManualPage {
  /** `/manual/docs/chats.md`. */
  readonly address: string;
  /** Of the group that the page is in. */
  readonly group: string;
  /** Its name in lists, as HTML. */
  readonly label: string;
  /** Its first heading, as HTML without elements. */
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

const repository = join(import.meta.dirname, '../../..');

/** Reads `README.md`, `docs/` and what stands beside them: every page in reading order. */
export async function readManual(): Promise<readonly ManualPage[]> {
  // A service that nobody reads about does not load it.
  const { renderMarkdown } = await import('./markdown.ts');
  const groups = readGroups(repository);
  const paths = new Set(groups.flatMap(({ pages }) => pages.map(({ path }) => path)));
  return groups.flatMap(({ title: group, pages }) =>
    pages.map(({ path, label }) => {
      const renderedPage = renderMarkdown(readFileSync(join(repository, path), 'utf8'), path, paths);
      return { ...renderedPage, address: `/manual/${path}`, group, label: label ?? renderedPage.title };
    }),
  );
}
