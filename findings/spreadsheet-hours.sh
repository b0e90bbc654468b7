#!/usr/bin/env bash
# Hours of a timesheet: a cell in the format [h]:mm shows 37:30, and three of four packages give a moment of the years 1899 or 1900 for it, without an error.
# exceljs 4.4.0 and read-excel-file 9.3.17 say 31 December 1899, 13:30; hucre 1.0.0 says 1 January 1900, 13:30. Whoever formats that as a time reads 13:30: a day
# is gone, and sums of such cells are dates. xlsx 0.18.5 gives 37:30 as text (`raw: false`), and with `cellDates: true`, which many set for dates, the
# moment of 1899 too. So take a date before 1901 for a length of time and count it from 1899-12-30, or read formatted text where people wrote hours.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0 read-excel-file@9.3.17 hucre@1.0.0 xlsx@0.18.5 jszip@3.10.2 >/dev/null
cat >probe.mjs <<'JS'
import ExcelJS from 'exceljs';
import { readXlsx } from 'hucre';
import JSZip from 'jszip';
import readWorkbook from 'read-excel-file/node';
import XLSX from 'xlsx';

const schemas = 'http://schemas.openxmlformats.org';
const office = `${schemas}/officeDocument/2006`;
const main = `${schemas}/spreadsheetml/2006/main`;
const relations = (all) => `<Relationships xmlns="${schemas}/package/2006/relationships">${all.map(([id, type, target]) => `<Relationship Id="${id}" Type="${office}/relationships/${type}" Target="${target}"/>`).join('')}</Relationships>`;
const type = (path, name) => `<Override PartName="/xl/${path}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${name}+xml"/>`;
const zip = new JSZip();
zip.file('[Content_Types].xml', `<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${type('workbook', 'sheet.main')}${type('worksheets/sheet1', 'worksheet')}${type('styles', 'styles')}</Types>`);
zip.file('_rels/.rels', relations([['r1', 'officeDocument', 'xl/workbook.xml']]));
zip.file('xl/workbook.xml', `<workbook xmlns="${main}" xmlns:r="${office}/relationships"><sheets><sheet name="Hours" sheetId="1" r:id="r1"/></sheets></workbook>`);
zip.file('xl/_rels/workbook.xml.rels', relations([['r1', 'worksheet', 'worksheets/sheet1.xml'], ['r2', 'styles', 'styles.xml']]));
zip.file('xl/styles.xml', `<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`);
zip.file('xl/worksheets/sheet1.xml', `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" s="1"><v>1.5625</v></c></row></sheetData></worksheet>`);
const bytes = await zip.generateAsync({ type: 'nodebuffer' });

const workbook = new ExcelJS.Workbook();
await workbook.xlsx.load(bytes);
const [sheet] = await readWorkbook(bytes);
const asRows = (options, output) => XLSX.utils.sheet_to_json(XLSX.read(bytes, options).Sheets.Hours, { header: 1, ...output });
const shown = (value) => (value instanceof Date ? value.toISOString().slice(0, 16) : String(value));
const seen = {
  exceljs: shown(workbook.worksheets[0].getCell('A1').value),
  'read-excel-file': shown((sheet.data ?? sheet)[0][0] ?? sheet[0]),
  hucre: shown((await readXlsx(bytes)).sheets[0].rows[0][0]),
  'xlsx, raw: false': shown(asRows({}, { raw: false })[0][0]),
  'xlsx, cellDates': shown(asRows({ cellDates: true }, {})[0][0]),
};
for (const [name, value] of Object.entries(seen)) console.log(`${name}: ${value}`);
const stated = ['1899-12-31T13:30', '1899-12-31T13:30', '1900-01-01T13:30', '37:30', '1899-12-31T13:30'];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(stated)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in exceljs read-excel-file hucre xlsx; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
TZ=UTC node probe.mjs
# Seen:
#   exceljs 4.4.0
#   read-excel-file 9.3.17
#   hucre 1.0.0
#   xlsx 0.18.5
#   exceljs: 1899-12-31T13:30
#   read-excel-file: 1899-12-31T13:30
#   hucre: 1900-01-01T13:30
#   xlsx, raw: false: 37:30
#   xlsx, cellDates: 1899-12-31T13:30
