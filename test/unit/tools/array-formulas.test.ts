import { expect, it } from 'vitest';
import { isComputable } from '../../../src/engine/tools/spreadsheet/process/array-formulas.ts';
import { computeMissing } from '../../../src/engine/tools/spreadsheet/process/compute.ts';
import type { CellObject, Workbook } from '../../../src/engine/tools/spreadsheet/process/sheet.ts';

const isNoRange = () => false;

/** Formulas, and their values in spreadsheet programs for the cells of `table`. */
const values: readonly (readonly [string, string | number])[] = [
  ['XLOOKUP(2,A1:C1,A2:C2)', 'b'],
  ['XLOOKUP(7,E1:E5,F1:F5)', 'y'],
  ['XLOOKUP(7,E1:E5,F1:F5,,0,-1)', 'v'],
  ['XLOOKUP(8,E1:E3,F1:F3,"none",-1)', 'y'],
  ['XLOOKUP(8,E1:E3,F1:F3,"none",1)', 'z'],
  ['XMATCH(2,A1:C1)', 2],
  ['HLOOKUP(2,A1:C2,2,FALSE)', 'b'],
  ['MATCH(2,A1:C1,0)', 2],
  ['LOOKUP(8,E1:E3,F1:F3)', 'y'],
  ['INDEX(A1:C2,2,3)', 'c'],
  ['COUNT(E1:E5)', 4],
  ['COUNTA(E1:E5)', 4],
  ['COUNTBLANK(E1:E5)', 1],
  ['AVERAGE(E1:E5)', 7],
  ['SUMIF(E1:E5,7)', 14],
  ['SUMIF(E1:E5,"<>7")', 14],
  ['COUNTIF(E1:E5,"<>7")', 3],
  ['COUNTIF(E1:E5,"")', 1],
  ['COUNTIF(F1:F5,"x*")', 1],
  ['COUNTIF(F1:F5,"<>x")', 4],
  ['COUNTIF(F1:F5,">x")', 2],
  ['SUMIFS(E1:E5,F1:F5,"y",E1:E5,">5")', 7],
  ['AVERAGEIF(E1:E5,">5")', 7.66666666666667],
  ['MAXIFS(E1:E5,F1:F5,"<>z")', 7],
  ['SUMPRODUCT((E1:E5>5)*E1:E5)', 23],
  ['SUMPRODUCT(--(E1:E5=7))', 2],
  ['SUM(IF(E1:E5>5,1,0))', 3],
  ['TEXTJOIN(",",TRUE,E1:E5)', '5,7,9,7'],
  ['TEXTJOIN("-",FALSE,E1:E5)', '5-7-9--7'],
  ['CONCAT(F1:F3)', 'xyz'],
  ['RANK(7,E1:E5)', 2],
  ['RANK.AVG(7,E1:E5)', 2.5],
  ['LARGE(E1:E5,2)', 7],
  ['PERCENTRANK(E1:E5,7)', 0.333],
  ['SUBTOTAL(9,E1:E5)', 28],
  ['SUBTOTAL(2,E1:E5)', 4],
  ['SUMPRODUCT(--(E1:E5=7))', 2],
  ['SUMPRODUCT((E1:E5=7)*1)', 2],
  ['SUMPRODUCT(N(E1:E5=7))', 2],
  ['SUM(--(E1:E5=7))', 2],
  ['SUM(-(E1:E5))', -28],
  ['SUMPRODUCT(-(E1:E5))', -28],
  ['SUMPRODUCT(--(F1:F5="x"),E1:E5)', 5],
  ['SUMPRODUCT((F1:F5="x")*E1:E5)', 5],
  ['SUMPRODUCT(+(E1:E5))', 28],
  ['SUM(+(E1:E5=7))', 2],
  ['SUMPRODUCT((E1:E5)%)', 0.28],
  ['SUM(ABS(E1:E5))', 28],
  ['SUM(ROUND(E1:E5,0))', 28],
  ['SUMPRODUCT(LEN(F1:F5))', 5],
  ['SUMPRODUCT(LEN(F1:F5)-LEN(SUBSTITUTE(F1:F5,"x","")))', 1],
  ['SUMPRODUCT(ISNUMBER(E1:E5)*1)', 4],
  ['SUMPRODUCT(--ISNUMBER(E1:E5))', 4],
  ['SUMPRODUCT(1/COUNTIF(F1:F5,F1:F5))', 5],
  ['SUMPRODUCT((MONTH(H3:H3)=1)*1)', 1],
  ['SUMPRODUCT(YEAR(E1:E3)*0+1)', 3],
  ['MAX(IF(E1:E5>5,E1:E5))', 9],
  ['MAX((F1:F5="v")*E1:E5)', 7],
  ['AVERAGE(IF(E1:E5>5,E1:E5))', 7.66666666666667],
  ['INDEX(F1:F5,MATCH(1,(E1:E5=7)*(F1:F5="v"),0))', 'v'],
  ['SUM(LARGE(E1:E5,{1,2}))', 16],
  ['SUM(COUNTIF(F1:F5,{"x","y"}))', 2],
  ['SUM(SUMIF(F1:F5,{"x","y"},E1:E5))', 12],
  ['COUNT(1/(E1:E5=7))', 2],
  ['LOOKUP(2,1/(E1:E5=7),F1:F5)', 'v'],
  ['SUM(E1:E5^2)', 204],
  ['SUM(E1:E3&"")', 0],
  ['SUM(INT(E1:E5/2))', 12],
  ['SUM(MOD(E1:E5,2))', 4],
  ['SUM(VALUE(E1:E3))', 21],
  ['SUM(SQRT(E1:E3))', 7.88182],
  ['TEXTJOIN(",",TRUE,"a","","b")', 'a,b'],
  ['TEXTJOIN(",",TRUE,IF(E1:E5>5,F1:F5,""))', 'y,z,v'],
  ['TEXTJOIN(",",TRUE,F1:F5)', 'x,y,z,w,v'],
  ['SUM(UNIQUE(E1:E5))', 21],
  ['COUNTA(UNIQUE(F1:F5))', 5],
  ['COUNT(FILTER(E1:E5,E1:E5>5))', 3],
  ['SUM(FILTER(E1:E5,(E1:E5>5)*(F1:F5<>"z")))', 14],
  ['SUM(FILTER(E1:E5,F1:F5="q",0))', 0],
  ['SUM("5",3)', 8],
  ['AVERAGE("5",3)', 4],
  ['COUNT("5",3)', 2],
  ['PRODUCT("5",3)', 15],
  ['LARGE(FILTER(E1:E5,E1:E5>5),1)', 9],
  ['XLOOKUP(7,E1:E5,F1:F5)', 'y'],
  ['XLOOKUP(2,{1,2,3},{"a","b","c"})', 'b'],
  ['XLOOKUP(2,{1;2;3},{"a";"b";"c"})', 'b'],
  ['SUMIFS(E1:E5,F1:F5,"<>")', 28],
  ['COUNTIFS(E1:E5,"<>")', 4],
  ['COUNTIFS(F1:F5,"?")', 5],
  ['COUNTIF(E1:E5,">=7")', 3],
  ['SUM(CHOOSE({1,2},E1:E3,E1:E3))', 42],
  ['VLOOKUP("v",CHOOSE({1,2},F1:F5,E1:E5),2,0)', 7],
  ['SUM(INDEX(E1:E5,0))', 28],
  ['SUM(INDEX(A1:C2,1,0))', 6],
  ['SUM(OFFSET(E1,0,0,3,1))', 21],
  ['SUM(INDIRECT("E1:E3"))', 21],
  ['ROWS(UNIQUE(E1:E5))', 4],
  ['SUM(ROW(E1:E3))', 6],
  ['SUM(ROW(INDIRECT("1:10")))', 55],
  ['SUMPRODUCT(MID("123",ROW(INDIRECT("1:3")),1)*1)', 6],
  ['SUM(NOT(E1:E3=5)*1)', 2],
  ['SUM(IF(ISBLANK(E1:E5),1,0))', 1],
  ['SUM(N(+E1:E3))', 21],
  ['SUM(IFERROR(1/(E1:E5-7),0))', 0],
  ['SUM(RANK(E1:E3,E1:E3))', 6],
];

/** A1:C1 are 1 to 3, A2:C2 are a to c; E1:E5 are 5, 7, 9, nothing, 7, beside them x, y, z, w, v. */
function table(): Map<string, CellObject> {
  const cells = new Map<string, CellObject>();
  const put = (name: string, v: string | number) => cells.set(name, { t: typeof v === 'number' ? 'n' : 's', v });
  ['A', 'B', 'C'].forEach((column, index) => {
    put(`${column}1`, index + 1);
    put(`${column}2`, ['a', 'b', 'c'][index] ?? '');
  });
  [5, 7, 9, undefined, 7].forEach((number, index) => {
    if (number !== undefined) put(`E${index + 1}`, number);
    put(`F${index + 1}`, ['x', 'y', 'z', 'w', 'v'][index] ?? '');
  });
  return cells;
}

it('no formula has a figure that spreadsheet programs do not give', () => {
  const cells = table();
  values.forEach(([f], index) => {
    cells.set(`Z${20 * index + 20}`, { t: 'n', f });
  });
  const workbook: Workbook = { sheets: [{ name: 'Data', cells }], names: [] };
  const uncomputed = new Set(computeMissing(workbook));
  const wrong: unknown[] = [];
  let computedCount = 0;
  values.forEach(([f, value], index) => {
    const cell = cells.get(`Z${20 * index + 20}`);
    // An error is seen by everybody.
    if (cell === undefined || uncomputed.has(cell) || cell.t === 'e') return;
    computedCount += 1;
    const isRight =
      typeof value === 'number' ? Math.abs(Number(cell.v) - value) < 1e-5 * Math.max(1, Math.abs(value)) : cell.v === value;
    if (!isRight) wrong.push([f, value, cell.v]);
  });
  expect(wrong).toEqual([]);
  expect(computedCount).toBeGreaterThan(50);
});

it.each([
  'SUM(A1:A5)-SUM(B1:B5)',
  '-SUM(A1:A5)*2%',
  'SUMPRODUCT((A1:A5="x")*(B1:B5>2),C1:C5)',
  'IF(AND(A1>0,ISNUMBER(SEARCH("x,(y",B1))),-B1,+C1)',
  "VLOOKUP(A1,'Price list'!$A:$C,3,FALSE)*ROUND(B1,2)",
  'INDEX(B1:B9,MATCH(1,(A1:A9=7)*(C1:C9="v"),0))*2',
  'IFERROR(XLOOKUP(A1,B:B,C:C),"none")',
  'SUMIFS(C:C,A:A,">="&E1,A:A,"<"&EDATE(E1,1))',
  'TEXTJOIN(", ",TRUE,A1:A5)&LEFT(B1)',
  'ROUND(Tax*A1,2)',
  'SUMIFS(A1:A9,B1:B9,"say ""x"",",C1:C9,1)',
  'LOG10(A1)+ATAN2(B1,C1)+DEC2BIN(5)',
])('computes %s', (formula) => expect(isComputable(formula, isNoRange)).toBe(true));

it.each([
  'SUMPRODUCT(--(A1:A5=7))',
  'ROUND(Taxes,2)',
  'SUM(LEN(A1:A5))',
  'COUNT(FILTER(A1:A5,A1:A5>5))',
  'COUNTIF(A1:A5,{"x","y"})',
])('does not compute %s', (formula) => expect(isComputable(formula, (name) => name === 'Taxes')).toBe(false));

it('reads what is nested deeply', () => {
  expect(isComputable(`${'('.repeat(50_000)}1`, isNoRange)).toBe(false);
});
