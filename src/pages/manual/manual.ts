import { Router } from 'express';
import { htmlType, pageHeaders, renderPage } from '../../http/page/page.ts';
import { StaticContent } from '../../http/reply/static.ts';
import { escapeHtml } from '../../lib/text/html.ts';
import type { Section } from './markdown.ts';
import type { ManualPage } from './read.ts';

/** Groups that the list beside a page shows unfolded, whatever page is open. */
const unfoldedGroups: ReadonlySet<string> = new Set(['Start', 'Guides']);

const summaryHeadingsMax = 4;

/**
 * Serves the Markdown files of the repository as pages: `/manual/docs/chats.md` is docs/chats.md.
 *
 * @param read  reads the files when a page is first asked for.
 */
export function createManual(read: () => Promise<readonly ManualPage[]>): Router {
  let manual: Promise<ReadonlyMap<string, StaticContent>> | undefined;
  const router = Router({ strict: true, caseSensitive: true });
  router.get(['/manual', '/manual/*path'], async (req, res, next) => {
    manual ??= read().then(contentByAddress);
    const content = (await manual).get(req.url.split('?')[0] ?? '');
    if (content === undefined) return next();
    await content.send(req, res);
  });
  return router;
}

function contentByAddress(pages: readonly ManualPage[]): ReadonlyMap<string, StaticContent> {
  const content = (html: () => string) => new StaticContent(['content-type', htmlType, ...pageHeaders], html);
  const entries = pages.map((page) => [page.address, content(() => manualPage(page, pages))] as const);
  return new Map([...entries, ['/manual', content(() => indexPage(pages))]]);
}

function indexPage(pages: readonly ManualPage[]): string {
  const parts = byGroup(pages).map(([group, inGroup]) => {
    // There are many decisions, each known by its name.
    const hasCards = group !== 'Decisions';
    const summary = (page: ManualPage) => (hasCards ? `<p>${writeSummary(page)}</p>` : '');
    const items = inGroup.map((page) => `<li><a href="${page.address}">${page.label}</a>${summary(page)}</li>`);
    const list = `<ul class="${hasCards ? 'cards' : 'names'}">\n${items.join('\n')}\n</ul>`;
    return `<section aria-labelledby="${group}">\n<h2 id="${group}">${group}</h2>\n${list}\n</section>`;
  });
  const lead = '<p class="lead">Begin with the <a href="/manual/README.md">quick tour</a>, or press <kbd>/</kbd> and search.</p>';
  const main = `<h1>Manual</h1>\n${lead}\n${parts.join('\n')}`;
  return renderPage({ title: 'Manual · Parley', main, part: 'manual', isWide: true });
}

function manualPage(page: ManualPage, pages: readonly ManualPage[]): string {
  const { title, html, sections } = page;
  const aside = `${groupList(page, pages)}\n${writeContents(sections)}`;
  const place = `<p class="place"><a href="/manual">Manual</a> / ${page.group}</p>`;
  const main = `${place}\n<article>\n${html}</article>\n${neighbors(page, pages)}`;
  return renderPage({ title: `${title} · Parley`, main, aside, part: 'manual' });
}

/** The whole manual beside a page; folded on a phone. */
function groupList(current: ManualPage, pages: readonly ManualPage[]): string {
  const groups = byGroup(pages).map(([group, inGroup]) => {
    const isOpen = group === current.group || unfoldedGroups.has(group);
    const items = inGroup.map(({ address, label }) => {
      const mark = address === current.address ? ' aria-current="page"' : '';
      return `<li><a href="${address}"${mark}>${label}</a></li>`;
    });
    return `<details${isOpen ? ' open' : ''}><summary>${group}</summary><ul>\n${items.join('\n')}\n</ul></details>`;
  });
  return `<nav class="groups" aria-label="Manual"><details class="fold"><summary>All pages</summary>
<div>${groups.join('\n')}</div></details></nav>`;
}

/** Links to the parts of a page; empty for a page of few parts. */
function writeContents(sections: readonly Section[]): string {
  const parts = sections.filter(({ depth }) => depth === 2 || depth === 3);
  if (parts.length < 3) return '';
  const items = parts.map(
    ({ id, depth, heading }) => `<li class="depth-${depth}"><a href="#${escapeHtml(id)}">${heading}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><details class="fold"><summary>On this page</summary>
<ul>\n${items.join('\n')}\n</ul></details></nav>`;
}

function neighbors(page: ManualPage, pages: readonly ManualPage[]): string {
  const index = pages.indexOf(page);
  const link = (other: ManualPage | undefined, rel: string, word: string) =>
    other === undefined ? '' : `<a rel="${rel}" href="${other.address}"><small>${word}</small> ${other.label}</a>`;
  const previous = link(pages[index - 1], 'prev', 'Previous');
  return `<nav class="neighbors" aria-label="Neighboring pages">${previous}${link(pages[index + 1], 'next', 'Next')}</nav>`;
}

function byGroup(pages: readonly ManualPage[]): readonly (readonly [string, readonly ManualPage[]])[] {
  return [...Map.groupBy(pages, ({ group }) => group)];
}

/** What the parts of a page are about; its first sentence, when it has hardly any. */
function writeSummary({ sections }: ManualPage): string {
  const headings = sections.filter(({ depth }) => depth === 2).map(({ heading }) => heading);
  if (headings.length > 1) return headings.slice(0, summaryHeadingsMax).join(' · ');
  return escapeHtml(/^.*?[.:](?=\s|$)/s.exec(sections[0]?.text ?? '')?.[0] ?? '');
}
