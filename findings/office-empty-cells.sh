#!/usr/bin/env bash
# officeparser 8.1.1 as text: cells that are empty are left out of a sheet, and the cells behind them move to the left, without a warning. Of a week with nothing
# on Monday and Tuesday, "Milk,,,7,8" becomes "Milk 7 8" with tabs between, so 7 and 8 stand below Mon and Tue; in the next row a value of Tuesday moves to
# Monday. It is so for XLSX and ODS. `to('text')`, which its README shows first, and by which most programs give documents to models, closes the gaps;
# `to('md')` and `to('csv')` of the same document keep the columns, and the cells of the tree have `metadata.col`. sheet_to_txt and sheet_to_csv of @e965/xlsx
# 0.20.3 keep them too. So an agent that reads a plan or a price list so names another day, another size or another month for a value: take Markdown or CSV.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund officeparser@8.1.1 @e965/xlsx@0.20.3 >/dev/null
cat >probe.mjs <<'JS'
import { parseOffice } from 'officeparser';
import { read, utils, write } from '@e965/xlsx';

const rows = [
  ['Item', 'Mon', 'Tue', 'Wed', 'Thu'],
  ['Milk', null, null, 7, 8],
  ['Eggs', null, 3, null, 4],
];
const book = utils.book_new();
utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Plan');
const wrong = [];
for (const bookType of ['xlsx', 'ods']) {
  const bytes = write(book, { type: 'buffer', bookType });
  const document = await parseOffice(bytes);
  const lines = async (form) => {
    const { value } = await document.to(form);
    return value.split('\n').filter((line) => /Milk|Eggs/.test(line));
  };
  const seen = {
    'officeparser, text': await lines('text'),
    'officeparser, md': await lines('md'),
    'officeparser, csv': await lines('csv'),
    'xlsx, txt': utils.sheet_to_csv(read(bytes).Sheets.Plan, { FS: '\t' }).split('\n').slice(1, 3),
  };
  for (const [name, found] of Object.entries(seen)) console.log(`${bookType}, ${name}: ${JSON.stringify(found)}`);
  console.log(`${bookType}, warnings: ${document.warnings?.length ?? 0}`);
  const asExpected =
    seen['officeparser, text'].join() === 'Milk\t7\t8,Eggs\t3\t4' &&
    seen['officeparser, csv'].join(';') === 'Milk,,,7,8;Eggs,,3,,4' &&
    seen['officeparser, md'].join() === '| Milk |  |  | 7 | 8 |,| Eggs |  | 3 |  | 4 |' &&
    seen['xlsx, txt'].join() === 'Milk\t\t\t7\t8,Eggs\t\t3\t\t4' &&
    (document.warnings?.length ?? 0) === 0;
  if (!asExpected) wrong.push(bookType);
}
if (wrong.length > 0) {
  console.error(`It behaves otherwise now: ${wrong.join(', ')}`);
  process.exit(1);
}
process.exit(0);
JS
for name in officeparser @e965/xlsx; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   xlsx, officeparser, text: ["Milk\t7\t8","Eggs\t3\t4"]
#   xlsx, officeparser, md: ["| Milk |  |  | 7 | 8 |","| Eggs |  | 3 |  | 4 |"]
#   xlsx, officeparser, csv: ["Milk,,,7,8","Eggs,,3,,4"]
#   xlsx, xlsx, txt: ["Milk\t\t\t7\t8","Eggs\t\t3\t\t4"]
#   xlsx, warnings: 0
#   ods, officeparser, text: ["Milk\t7\t8","Eggs\t3\t4"]
#   ods, officeparser, md: ["| Milk |  |  | 7 | 8 |","| Eggs |  | 3 |  | 4 |"]
#   ods, officeparser, csv: ["Milk,,,7,8","Eggs,,3,,4"]
#   ods, xlsx, txt: ["Milk\t\t\t7\t8","Eggs\t\t3\t\t4"]
#   ods, warnings: 0
