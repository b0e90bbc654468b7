#!/usr/bin/env bash
# Entries of Atom feeds, as blogs, code hosts and government offices publish them: two readers give other words than the feed has, without an error. RFC 4287
# (3.1.1 and 4.1.3) lets content be text, HTML or XHTML elements. Of elements, rss-parser 3.13.0, which LangChain's loaders of feeds use, puts the words of a
# paragraph in another order: "Dose: <b>not</b> more than 5 mg" becomes "Dose:  more than 5 mgnot". @extractus/feed-extractor 8.0.3 gives
# no description of them at all. Both take text (`type="text"`) for HTML and leave out what stands between two angle marks: "if a<b and c>d" becomes
# "if ad". And links that are relative to `xml:base`, which the format allows everywhere, are relative in the one and empty in the other. feedsmith 3.0.1
# has the words right, and gives `xml:base` beside the links.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rss-parser@3.13.0 @extractus/feed-extractor@8.0.3 feedsmith@3.0.1 >/dev/null
cat >probe.mjs <<'JS'
import { extractFromXml } from '@extractus/feed-extractor';
import { parseFeed } from 'feedsmith';
import Parser from 'rss-parser';

const entry = (id, content) => `<entry><id>urn:${id}</id><title>${id}</title><updated>2026-01-01T00:00:00Z</updated><link href="posts/${id}"/>${content}</entry>`;
const elements = '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Dose: <b>not</b> more than 5 mg</p></div></content>';
const feed = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://site.example/blog/"><id>urn:feed</id><title>Notes</title><updated>2026-01-01T00:00:00Z</updated>${entry('elements', elements)}${entry('text', '<content type="text">if a&lt;b and c&gt;d</content>')}${entry('html', '<content type="html">&lt;p&gt;One &lt;b&gt;two&lt;/b&gt; three&lt;/p&gt;</content>')}</feed>`;
const words = (html) => html.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ').trim();

const bySnippet = (await new Parser().parseString(feed)).items;
const byExtractor = extractFromXml(feed, { descriptionMaxLen: 0 }).entries;
const byFeedsmith = parseFeed(feed).feed;
const seen = {
  'rss-parser': bySnippet.map(({ contentSnippet, link }) => [words(contentSnippet), link]),
  '@extractus/feed-extractor': byExtractor.map(({ description, link }) => [words(description), link]),
  feedsmith: byFeedsmith.entries.map(({ content: { type, value }, links }) => [type === 'text' ? value : words(value), links[0].href]),
};
for (const [name, entries] of Object.entries(seen)) console.log(`${name}: ${JSON.stringify(entries)}`);
const stated = {
  'rss-parser': [['Dose: more than 5 mgnot', 'posts/elements'], ['if ad', 'posts/text'], ['One two three', 'posts/html']],
  '@extractus/feed-extractor': [['', ''], ['if ad', ''], ['One two three', '']],
  feedsmith: [['Dose: not more than 5 mg', 'posts/elements'], ['if a<b and c>d', 'posts/text'], ['One two three', 'posts/html']],
};
if (JSON.stringify(seen) !== JSON.stringify(stated)) {
  console.error('They behave otherwise now.');
  process.exit(1);
}
JS
for name in rss-parser @extractus/feed-extractor feedsmith; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   rss-parser 3.13.0
#   @extractus/feed-extractor 8.0.3
#   feedsmith 3.0.1
#   rss-parser: [["Dose: more than 5 mgnot","posts/elements"],["if ad","posts/text"],["One two three","posts/html"]]
#   @extractus/feed-extractor: [["",""],["if ad",""],["One two three",""]]
#   feedsmith: [["Dose: not more than 5 mg","posts/elements"],["if a<b and c>d","posts/text"],["One two three","posts/html"]]
