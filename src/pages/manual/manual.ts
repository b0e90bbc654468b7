import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { escapeHtml } from '../../lib/html.ts';
import { htmlType, renderPage, sendPage } from '../page.ts';

const repository = join(import.meta.dirname, '../../..');

/** Parts of the manual, in the order of its index. */
const parts: readonly (readonly [title: string, files: string])[] = [
  ['Begin', '{README,CHANGELOG,SECURITY}.md'],
  ['Subjects', 'docs/*.md'],
  ['Why it is so', 'docs/decisions/*.md'],
];

interface ManualPage {
  readonly title: string;
  readonly html: string;
}

/** Serves the Markdown files of the repository as pages: `/manual/docs/chats.md` is docs/chats.md. They are read when they are first asked for. */
export function createManual(): Router {
  let manual: Promise<ReadonlyMap<string, ManualPage>> | undefined;
  const router = Router({ strict: true, caseSensitive: true });
  router.get(['/manual', '/manual/*path'], async (req, res, next) => {
    manual ??= readManual();
    const page = (await manual).get(req.url.split('?')[0] ?? '');
    if (page === undefined) return next();
    sendPage(req, res, htmlType, page.html);
  });
  return router;
}

/** Every page by its address. */
async function readManual(): Promise<ReadonlyMap<string, ManualPage>> {
  // A service that nobody reads about does not load it.
  const { renderMarkdown } = await import('./markdown.ts');
  const found = parts.map(([title, files]) => ({ title, paths: filesOf(files) }));
  const paths = new Set(found.flatMap((part) => part.paths));
  const pages = new Map<string, ManualPage>();
  for (const path of paths) {
    const { title, html, headings } = renderMarkdown(readFileSync(join(repository, path), 'utf8'), path, paths);
    const items = headings.map(({ id, text }) => `<li><a href="#${escapeHtml(id)}">${text}</a></li>`).join('\n');
    const contents = `<nav class="contents" aria-label="On this page"><details><summary>On this page</summary><ul>${items}</ul></details></nav>`;
    const main = html.replace('</h1>', `</h1>\n${headings.length > 2 ? contents : ''}`);
    pages.set(`/manual/${path}`, { title, html: renderPage({ title: `${title} · Parley`, main }) });
  }
  const lists = found.map(({ title, paths: inPart }) => {
    const items = inPart.map((path) => `<li><a href="/manual/${path}">${pages.get(`/manual/${path}`)?.title ?? path}</a></li>`);
    return `<h2>${title}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  });
  const main = `<h1>Manual</h1>\n${lists.join('\n')}`;
  return pages.set('/manual', { title: 'Manual', html: renderPage({ title: 'Manual · Parley', main }) });
}

function filesOf(pattern: string): string[] {
  const names = globSync(pattern, { cwd: repository }).map((path) => path.replaceAll('\\', '/'));
  return names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** A file README.md opens its folder. */
function rank(path: string): number {
  return path.endsWith('README.md') ? 0 : 1;
}
