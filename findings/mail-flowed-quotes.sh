#!/usr/bin/env bash
# postal-mime 4.0.0 joins the lines of a flowed mail (`format=flowed`, as Apple Mail, Thunderbird and mutt send) right, but not those of a quote: it leaves
# the mark of each line within the sentence. RFC 3676 (4.2 and 4.5) takes the marks off before lines are joined. "> up to 5 " and "> percent" become
# "> up to 5 > percent": a quoted agreement reads as a comparison, a link that was broken does not open, and a quote within a quote becomes "five
# >> seven". mailparser 3.14.2, of the same maker, gives one mark for the joined line. So take the marks off yourself where a mail is flowed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2 >/dev/null
cat >probe.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';

const mail = (type, ...lines) => ['From: ann@mail.example', `Content-Type: text/plain; charset=utf-8; ${type}`, '', ...lines, ''].join('\r\n');
const cases = {
  'a paragraph': mail('format=flowed', 'We deliver in ', 'five days.'),
  'a quote': mail('format=flowed', '> The discount is up to 5 ', '> percent of the price.'),
  'a link in a quote': mail('format=flowed; delsp=yes', '> https://shop.example/orders/ ', '> 2026/11'),
  'a quote in a quote': mail('format=flowed', '>> It takes five ', '>> to seven days.'),
};
const seen = [];
for (const [name, source] of Object.entries(cases)) {
  const found = [(await PostalMime.parse(source)).text.trim(), (await simpleParser(source)).text.trim()];
  console.log(`${name}: postal-mime ${JSON.stringify(found[0])}, mailparser ${JSON.stringify(found[1])}`);
  seen.push(found);
}
const expected = [
  ['We deliver in five days.', 'We deliver in five days.'],
  ['> The discount is up to 5 > percent of the price.', '> The discount is up to 5 percent of the price.'],
  ['> https://shop.example/orders/> 2026/11', '> https://shop.example/orders/2026/11'],
  ['>> It takes five >> to seven days.', '>> It takes five to seven days.'],
];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in postal-mime mailparser; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   a paragraph: postal-mime "We deliver in five days.", mailparser "We deliver in five days."
#   a quote: postal-mime "> The discount is up to 5 > percent of the price.", mailparser "> The discount is up to 5 percent of the price."
#   a link in a quote: postal-mime "> https://shop.example/orders/> 2026/11", mailparser "> https://shop.example/orders/2026/11"
#   a quote in a quote: postal-mime ">> It takes five >> to seven days.", mailparser ">> It takes five to seven days."
