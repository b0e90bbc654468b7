#!/usr/bin/env bash
# @ironcalc/wasm 0.8.4, a spreadsheet engine: where a formula counts or sums by a condition over a range, the usual ways of writing it give wrong
# figures and no error. A sign before a condition turns the whole range into one value: SUMPRODUCT(--(A1:A5=7)) is 0, while SUMPRODUCT((A1:A5=7)*1) is
# right. Functions of one value take one value of a range (ISNUMBER, ROW), IF without an alternative counts what does not match as 0, and COUNT
# finds nothing in what FILTER gives. Some of their neighbours say #N/IMPL!, so one takes the absence of it for "computed". So a service that reads a
# workbook with this engine must keep the figures that the file holds, or refuse such formulas.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund @ironcalc/wasm@0.8.4 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { initSync, Model } from '@ironcalc/wasm';

console.log('@ironcalc/wasm', JSON.parse(readFileSync('node_modules/@ironcalc/wasm/package.json', 'utf8')).version);
initSync({ module: readFileSync('node_modules/@ironcalc/wasm/wasm_bg.wasm') });
const model = new Model('Workbook', 'en', 'UTC', 'en');
['5', '7', '9', '', '7'].forEach((value, row) => model.setUserInput(0, row + 1, 1, value));
// [formula, what spreadsheets say for 5, 7, 9, an empty cell, 7, what this engine says]
const cases = [
  ['=SUMPRODUCT((A1:A5=7)*1)', '2', '2'],
  ['=SUMPRODUCT(--(A1:A5=7))', '2', '0'],
  ['=SUM(+(A1:A5=7))', '2', '0'],
  ['=SUMPRODUCT(ISNUMBER(A1:A5)*1)', '4', '0'],
  ['=AVERAGE(IF(A1:A5>5,A1:A5))', '7.666666667', '4.6'],
  ['=COUNT(FILTER(A1:A5,A1:A5>5))', '3', '0'],
  ['=SUM(ROW(A1:A3))', '6', '1'],
  ['=SUM(MOD(A1:A5,2))', '4', '#N/IMPL!'],
];
let differs = 0;
for (const [index, [formula, usual, stated]] of cases.entries()) {
  model.setUserInput(0, index + 1, 3, formula);
  model.evaluate();
  const value = model.getFormattedCellValue(0, index + 1, 3);
  if (value !== stated) differs += 1;
  console.log(`${value === stated ? 'as stated' : `DIFFERS (stated ${stated})`}: ${formula} is ${value}, in spreadsheets ${usual}`);
}
process.exit(differs === 0 ? 0 : 1);
JS
node run.mjs

# Output seen:
# @ironcalc/wasm 0.8.4
# as stated: =SUMPRODUCT((A1:A5=7)*1) is 2, in spreadsheets 2
# as stated: =SUMPRODUCT(--(A1:A5=7)) is 0, in spreadsheets 2
# as stated: =SUM(+(A1:A5=7)) is 0, in spreadsheets 2
# as stated: =SUMPRODUCT(ISNUMBER(A1:A5)*1) is 0, in spreadsheets 4
# as stated: =AVERAGE(IF(A1:A5>5,A1:A5)) is 4.6, in spreadsheets 7.666666667
# as stated: =COUNT(FILTER(A1:A5,A1:A5>5)) is 0, in spreadsheets 3
# as stated: =SUM(ROW(A1:A3)) is 1, in spreadsheets 6
# as stated: =SUM(MOD(A1:A5,2)) is #N/IMPL!, in spreadsheets 4
