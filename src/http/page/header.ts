/** The parts of the site that the header leads to. */
export type SitePart = 'manual' | 'reference' | 'graphiql';

const links: readonly (readonly [part: SitePart | 'console', address: string, text: string])[] = [
  ['console', '/', 'Console'],
  ['manual', '/manual', 'Manual'],
  ['reference', '/docs', 'REST reference'],
  ['graphiql', '/graphql', 'GraphiQL'],
];

/** What the head of every page has: the colors, the theme that the reader chose, the header's styles, and its script. */
export const siteHead = `<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<script src="/pages/theme.js"></script>
<link rel="stylesheet" href="/pages/tokens.css">
<link rel="stylesheet" href="/pages/site.css">
<script type="module" src="/pages/header.js"></script>`;

/**
 * The header of every page: the parts of the site, one search over the manual and the operations, and who is signed in. It is the same text for
 * every visitor; the script fills in the person.
 */
export function siteHeader(current?: SitePart): string {
  const items = links.map(([part, address, text]) => {
    const mark = part === current ? ' aria-current="true"' : '';
    return `<a href="${address}"${mark}>${text}</a>`;
  });
  return `<header class="site-header" lang="en">
<a class="site-brand" href="/"><img src="/favicon.svg" alt="" width="24" height="24">Parley</a>
<nav class="site-nav" aria-label="Parley">
${items.join('\n')}
</nav>
<search class="site-search">
<input id="site-search" type="search" role="combobox" aria-label="Search the manual and the operations" aria-expanded="false" aria-controls="site-results" aria-autocomplete="list" aria-keyshortcuts="/" placeholder="Search" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div id="site-results" role="listbox" aria-label="Results" hidden></div>
<p class="visually-hidden" id="site-found" role="status"></p>
</search>
<div class="site-account" id="site-account" data-state="unknown">
<a href="/sign-in" id="site-sign-in">Sign in</a>
<span id="site-person"></span>
<button type="button" id="site-sign-out" hidden>Sign out</button>
</div>
</header>`;
}
