#!/usr/bin/env bash
# robots-parser 3.0.1 lets a crawler read what a robots.txt refuses it, in three cases. By RFC 9309 (2.2.4) other records, such as a `Sitemap`, must not
# end a group: of two names with a `Sitemap` or an unknown line between them, the first gets no rule at all. Escapes of characters that need none must
# be taken off before comparing (2.2.2): a rule for `/h%69dden` does not hold for `/hidden`. And `/price%24`, the only way to name a `$` (2.2.3), does not
# hold for `/price$`. Its documentation refers to the standard. Wildcards, equally long rules and groups in several places are right. So a
# crawler that relies on it should take lines that are no rules out of the file, and escapes off both sides, before it asks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund robots-parser@3.0.1 >/dev/null
cat >probe.mjs <<'JS'
import robotsParser from 'robots-parser';

const site = 'https://site.example';
// Each text refuses its address to the crawler "reader", by the standard.
const cases = [
  ['a sitemap between two names', `User-agent: reader\nSitemap: ${site}/map.xml\nUser-agent: other\nDisallow: /hidden`, '/hidden', true],
  ['an unknown line between two names', 'User-agent: reader\nHost: site.example\nUser-agent: other\nDisallow: /hidden', '/hidden', true],
  ['an empty line between two names', 'User-agent: reader\n\nUser-agent: other\nDisallow: /hidden', '/hidden', false],
  ['an escape of a letter', 'User-agent: *\nDisallow: /h%69dden', '/hidden', true],
  ['an escape of $', 'User-agent: *\nDisallow: /price%24', '/price$', true],
  ['an escape in lower case', 'User-agent: *\nDisallow: /caf%c3%a9', '/caf%C3%A9', false],
  ['a wildcard', 'User-agent: *\nAllow: /\nDisallow: /*.pdf$', '/a.pdf', false],
];
let isAsStated = true;
for (const [name, text, path, stated] of cases) {
  const isAllowed = robotsParser(`${site}/robots.txt`, text).isAllowed(`${site}${path}`, 'reader');
  console.log(`${name}: ${path} is ${isAllowed ? 'allowed' : 'refused'}`);
  isAsStated &&= isAllowed === stated;
}
if (!isAsStated) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in robots-parser; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   a sitemap between two names: /hidden is allowed
#   an unknown line between two names: /hidden is allowed
#   an empty line between two names: /hidden is refused
#   an escape of a letter: /hidden is allowed
#   an escape of $: /price$ is allowed
#   an escape in lower case: /caf%C3%A9 is refused
#   a wildcard: /a.pdf is refused
