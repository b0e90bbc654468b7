#!/usr/bin/env bash
# Dates of a workbook: three of four packages give other ones than the workbook shows, each in its own case, without an error. Workbooks count days from
# 1900, or from 1904 where they were begun on an old Mac, and a cell may hold a date in ISO form (`t="d"`) instead of a count. xlsx 0.18.5, the newest
# that npm has, gives counts from 1904 right as text, but with `cellDates: true`, the option for getting dates, four years and a day too early; ISO dates
# the other way round, and then too late. exceljs 4.4.0 reads the year of an ISO date as a count: 1 March 2026 becomes 18 July 1905. officeparser 8.1.1
# gives every count as it is, 43000 for two dates that are four years apart. read-excel-file 9.3.17 reads all of them right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts xlsx@0.18.5 officeparser@8.1.1 exceljs@4.4.0 read-excel-file@9.3.17 yazl@3.3.1 >/dev/null
cat >probe.mjs <<'JS'
import ExcelJS from 'exceljs';
import { OfficeParser } from 'officeparser';
import readExcelFile from 'read-excel-file/node';
import XLSX from 'xlsx';
import yazl from 'yazl';

const open = 'http://schemas.openxmlformats.org';
const main = `${open}/spreadsheetml/2006/main`;
const type = (part, kind) => `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${kind}+xml"/>`;
const link = (id, kind, target) => `<Relationship Id="${id}" Type="${open}/officeDocument/2006/relationships/${kind}" Target="${target}.xml"/>`;
const links = (...all) => `<Relationships xmlns="${open}/package/2006/relationships">${all.join('')}</Relationships>`;
/** A sheet of two cells in the format of dates: a count of days, and a date as the standard writes it. */
async function workbook(properties) {
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${open}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${type('workbook', 'sheet.main')}${type('worksheets/sheet1', 'worksheet')}${type('styles', 'styles')}</Types>`,
    '_rels/.rels': links(link('r1', 'officeDocument', 'xl/workbook')),
    'xl/_rels/workbook.xml.rels': links(link('r1', 'worksheet', 'worksheets/sheet1'), link('r2', 'styles', 'styles')),
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${open}/officeDocument/2006/relationships"><workbookPr ${properties}/><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" s="1"><v>43000</v></c><c r="B1" s="1" t="d"><v>2026-03-01T00:00:00</v></c></row></sheetData></worksheet>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
  };
  const archive = new yazl.ZipFile();
  for (const [name, content] of Object.entries(parts)) archive.addBuffer(Buffer.from(content), name);
  archive.end();
  return Buffer.concat(await archive.outputStream.toArray());
}
const cells = (values) => values.map((value) => (value instanceof Date ? value.toISOString().slice(0, 10) : String(value))).join(' and ');
const readers = {
  'xlsx, text': (bytes) => XLSX.utils.sheet_to_csv(XLSX.read(bytes).Sheets.S, { FS: ' and ' }).trim(),
  'xlsx, cellDates': (bytes) => cells(XLSX.utils.sheet_to_json(XLSX.read(bytes, { cellDates: true }).Sheets.S, { header: 1 })[0]),
  officeparser: async (bytes) => (await (await OfficeParser.parseOffice(bytes)).to('text')).value.trim().replaceAll('\t', ' and '),
  exceljs: async (bytes) => cells((await new ExcelJS.Workbook().xlsx.load(bytes)).worksheets[0].getRow(1).values.slice(1)),
  'read-excel-file': async (bytes) => cells((await readExcelFile(bytes))[0].data[0]),
};
const seen = {};
for (const [name, properties] of [['1900', ''], ['1904', 'date1904="1"']]) {
  const bytes = await workbook(properties);
  for (const [reader, read] of Object.entries(readers)) console.log(`from ${name}, ${reader}: ${(seen[`${name} ${reader}`] = await read(bytes))}`);
}
const expected = [
  ['9/22/17 and 3/1/26', '2017-09-22 and 2026-03-01', '43000 and 2026-03-01T00:00:00', '2017-09-22 and 1905-07-18', '2017-09-22 and 2026-03-01'],
  ['9/23/21 and 3/2/30', '2017-09-22 and 2026-03-01', '43000 and 2026-03-01T00:00:00', '2021-09-23 and 1909-07-19', '2021-09-23 and 2026-03-01'],
].flat();
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in xlsx officeparser exceljs read-excel-file; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
TZ=UTC node probe.mjs
# Seen:
#   from 1900, xlsx, text: 9/22/17 and 3/1/26
#   from 1900, xlsx, cellDates: 2017-09-22 and 2026-03-01
#   from 1900, officeparser: 43000 and 2026-03-01T00:00:00
#   from 1900, exceljs: 2017-09-22 and 1905-07-18
#   from 1900, read-excel-file: 2017-09-22 and 2026-03-01
#   from 1904, xlsx, text: 9/23/21 and 3/2/30
#   from 1904, xlsx, cellDates: 2017-09-22 and 2026-03-01
#   from 1904, officeparser: 43000 and 2026-03-01T00:00:00
#   from 1904, exceljs: 2021-09-23 and 1909-07-19
#   from 1904, read-excel-file: 2021-09-23 and 2026-03-01
