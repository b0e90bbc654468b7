#!/usr/bin/env bash
# Units that a cell's format adds to a number: sheets of goods and measures have 12 in a cell and show "12 kg", by the format General" kg", which Excel writes
# where somebody adds a unit to the ordinary format. xlsx 0.18.5 and @e965/xlsx 0.20.3, the current version of SheetJS under another name, give "12", also as
# formatted text (`w`, `raw: false`): a format that begins with General is taken for General alone, and its other sections count no more. 0" kg" is shown
# right. In a section of its own for negative numbers, -General" kg", where the number has no sign, "-3 kg" becomes "--3 kg". markitdown-ts 0.0.10, built on
# xlsx, tells models "12" too. Whoever reads quantities so puts an empty text ("") before General in the format, and formats anew.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xlsx@0.18.5 @e965/xlsx@0.20.3 markitdown-ts@0.0.10 >/dev/null
cat >probe.mjs <<'JS'
import { MarkItDown } from 'markitdown-ts';
import current from '@e965/xlsx';
import old from 'xlsx';

const cells = [[12, 'General" kg"'], [12, '0" kg"'], [-3, 'General" kg"'], [-3, '0" kg";-General" kg"'], [12, '""General" kg"']];
const sheet = old.utils.aoa_to_sheet([cells.map(([number]) => number)]);
cells.forEach(([, format], column) => { sheet[old.utils.encode_cell({ r: 0, c: column })].z = format; });
const book = old.utils.book_new();
old.utils.book_append_sheet(book, sheet, 'Goods');
const bytes = old.write(book, { type: 'buffer', bookType: 'xlsx' });
const shownBy = (library) => library.utils.sheet_to_json(library.read(bytes).Sheets.Goods, { header: 1, raw: false })[0];
const markdown = (await new MarkItDown().convertBuffer(bytes, { file_extension: '.xlsx' })).markdown;
const seen = { xlsx: shownBy(old), '@e965/xlsx': shownBy(current), 'markitdown-ts': markdown.split('\n').at(-1).split('|').slice(1, -1).map((cell) => cell.trim().replaceAll('\\', '')) };
console.log(`formats: ${cells.map(([number, format]) => `${number} as ${format}`).join(', ')}`);
for (const [name, values] of Object.entries(seen)) console.log(`${name}: ${JSON.stringify(values)}`);
const stated = ['12', '12 kg', '-3', '--3 kg', '12 kg'];
if (!Object.values(seen).every((values) => JSON.stringify(values) === JSON.stringify(stated))) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in xlsx @e965/xlsx markitdown-ts; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   xlsx 0.18.5
#   @e965/xlsx 0.20.3
#   markitdown-ts 0.0.10
#   formats: 12 as General" kg", 12 as 0" kg", -3 as General" kg", -3 as 0" kg";-General" kg", 12 as ""General" kg"
#   xlsx: ["12","12 kg","-3","--3 kg","12 kg"]
#   @e965/xlsx: ["12","12 kg","-3","--3 kg","12 kg"]
#   markitdown-ts: ["12","12 kg","-3","--3 kg","12 kg"]
