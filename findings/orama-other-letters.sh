#!/usr/bin/env bash
# @orama/orama 3.1.18, full-text and vector search in memory, with its defaults: a document in other than Latin letters (Greek, Russian, Arabic, Hebrew, Hindi,
# Korean, Chinese) is stored and counted, but no word of it is indexed, so no word finds it, and neither `insert` nor `search` says so. The default language
# is English, which one may take for its rules of stems and stop words; it is also the set of letters that words consist of, and everything else divides them.
# So "Größe" is the words "gr" and "e": a search for "Grüße" finds it, as well as the right one. With `language: 'greek'` Greek is found, and Russian
# still is not. minisearch 7.2.0 and flexsearch 0.8.212 find all but Chinese by their defaults. A search over documents of several languages, as an assistant's
# is, needs a tokenizer of one's own: `components: { tokenizer: { language: 'english', normalizationCache: new Map(), tokenize } }`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @orama/orama@3.1.18 minisearch@7.2.0 flexsearch@0.8.212 >/dev/null
cat >probe.mjs <<'JS'
import { count, create, insert, search } from '@orama/orama';
import flexsearch from 'flexsearch';
import MiniSearch from 'minisearch';

const texts = {
  English: ['The time of payment is thirty days.', 'payment'],
  Greek: ['Η προθεσμία πληρωμής είναι τριάντα ημέρες.', 'προθεσμία'],
  Russian: ['Срок оплаты составляет тридцать дней.', 'оплаты'],
  Arabic: ['مهلة الدفع ثلاثون يوما', 'الدفع'],
  Hebrew: ['מועד התשלום הוא שלושים יום', 'התשלום'],
  Hindi: ['भुगतान की अवधि तीस दिन है', 'भुगतान'],
  Korean: ['지불 기한은 30일입니다', '지불'],
  Chinese: ['付款期限为三十天。', '付款'],
};
const schema = { text: 'string' };
const hitsOf = async (db, term) => (await search(db, { term })).hits.map((hit) => hit.document.text);
const db = create({ schema });
const mini = new MiniSearch({ fields: ['text'] });
const flex = new flexsearch.Index();
for (const [id, [text]] of Object.entries(texts)) {
  await insert(db, { text });
  mini.add({ id, text });
  flex.add(id, text);
}
const found = { orama: [], minisearch: [], flexsearch: [] };
for (const [id, [text, word]] of Object.entries(texts)) {
  if ((await hitsOf(db, word)).includes(text)) found.orama.push(id);
  if (mini.search(word).some((hit) => hit.id === id)) found.minisearch.push(id);
  if (flex.search(word).includes(id)) found.flexsearch.push(id);
}
console.log(`documents in orama: ${count(db)}`);
for (const [name, ids] of Object.entries(found)) console.log(`${name} finds: ${ids.join(', ')}`);

const german = create({ schema });
for (const text of ['Die Größe der Tür', 'Viele Grüße aus Ulm']) await insert(german, { text });
const mixed = await hitsOf(german, 'Grüße');
console.log(`"Grüße" finds: ${mixed.join(' | ')}`);
const greek = create({ schema, language: 'greek' });
const tokenizer = { language: 'english', normalizationCache: new Map(), tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [] };
const own = create({ schema, components: { tokenizer } });
const results = [];
for (const db of [greek, own]) {
  for (const name of ['Greek', 'Russian']) await insert(db, { text: texts[name][0] });
  results.push((await hitsOf(db, texts.Greek[1])).length, (await hitsOf(db, texts.Russian[1])).length);
}
console.log(`language greek: ${results[0]} by a Greek word, ${results[1]} by a Russian one`);
console.log(`a tokenizer of one's own: ${results[2]} by a Greek word, ${results[3]} by a Russian one`);

const all = Object.keys(texts).slice(0, -1).join();
const isAsSeen =
  count(db) === 8 && found.orama.join() === 'English' && found.minisearch.join() === all && found.flexsearch.join() === all;
if (!isAsSeen || mixed.length !== 2 || results.join() !== '1,0,1,1') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @orama/orama minisearch flexsearch; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   documents in orama: 8
#   orama finds: English
#   minisearch finds: English, Greek, Russian, Arabic, Hebrew, Hindi, Korean
#   flexsearch finds: English, Greek, Russian, Arabic, Hebrew, Hindi, Korean
#   "Grüße" finds: Viele Grüße aus Ulm | Die Größe der Tür
#   language greek: 1 by a Greek word, 0 by a Russian one
#   a tokenizer of one's own: 1 by a Greek word, 1 by a Russian one
