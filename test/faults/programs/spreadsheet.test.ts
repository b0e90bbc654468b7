import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { ServerTool, ToolResult } from '../../../src/engine/tools/server-tool.ts';
import { createSpreadsheetKind } from '../../../src/engine/tools/spreadsheet/spreadsheet.ts';
import type { WorkbookLimits } from '../../../src/engine/tools/spreadsheet/workbook-process.ts';
import { MemoryFiles, runOf } from '../../support/runs/programs.ts';
import { freePass } from '../../support/runs/runs.ts';
import { testPools } from '../../support/sharing/pools.ts';

const excel: typeof import('@e965/xlsx') = createRequire(import.meta.url)('@e965/xlsx');
const mebibyte = 1024 * 1024;
const free: WorkbookLimits = { timeoutMs: 60_000, memoryMaxBytes: 448 * mebibyte, fileMaxBytes: 5 * mebibyte };
const file = (filename: string, bytes: Buffer) => ({ filename, mimeType: 'application/octet-stream', bytes });

function spreadsheetOf(files = new MemoryFiles(), limits: Partial<WorkbookLimits> = {}) {
  const kind = createSpreadsheetKind({
    limits: { ...free, ...limits },
    resultCharsMax: 20_000,
    processes: testPools().queue('spreadsheet', 2),
  });
  const [tool] = (kind.open({ type: 'spreadsheet', options: {} }, runOf(files)) as { functions: readonly ServerTool[] })
    .functions;
  let calls = 0;
  const call = async (args: object, key = `call_${calls}`) => {
    calls += 1;
    const { signal } = new AbortController();
    const result = (await tool?.run(JSON.stringify(args), {}, signal, () => undefined, { ...freePass, key })) as ToolResult;
    return { ...result, data: JSON.parse(result.text) };
  };
  return { files, call };
}

function lastBook(files: MemoryFiles) {
  return excel.read(files.saved.at(-1)?.bytes ?? Buffer.alloc(0), { cellFormula: true, cellNF: true, xlfn: true });
}

describe('spreadsheet', { timeout: 120_000 }, () => {
  it('computes known formulas, and the file holds formulas and the same values', async () => {
    const { files, call } = spreadsheetOf();
    await call({
      operation: 'create',
      file: 'Book',
      sheet: 'Data Set',
      values: [
        [1, 10],
        [2, 20],
        [3, 30],
        [4, 40],
      ],
    });
    const known: readonly (readonly [string, string | number | boolean])[] = [
      ["=SUM('Data Set'!B1:B4)", 100],
      ["=AVERAGE('Data Set'!B1:B4)", 25],
      ['=IF(A1>50,"big","small")', 'big'],
      ["=VLOOKUP(3,'Data Set'!A1:B4,2,FALSE)", 30],
      ["=XLOOKUP(2,'Data Set'!A1:A4,'Data Set'!B1:B4)", 20],
      ['=DATE(2026,11,22)', '2026-11-22'],
      ['=A6-DATE(2026,11,20)', 2],
      ['=TEXT(1234.5,"#,##0.00")', '1,234.50'],
      ['=50%*3', 1.5],
      ['=CONCATENATE("XLOOKUP(","b")', 'XLOOKUP(b'],
      ['=1/0', '#DIV/0!'],
      ['=A13', '#CIRC!'],
      ['=A12', '#CIRC!'],
      ['=NOSUCH(1)', '#NAME?'],
      ['=1/3', 0.333333333333333],
      ['=0.1+0.2', 0.3],
      ['=1=1', true],
      ['=LEN("héllo")', 5],
      ['=VLOOKUP(9,A1:B2,2,FALSE)', '#N/A'],
      ['=1234567890123*10.5', 12962962846291.5],
    ];
    const { data } = await call({
      operation: 'write',
      file: 'Book.xlsx',
      sheet: 'Sums',
      values: known.map(([formula]) => [formula]),
    });
    expect(data.values.flat()).toEqual(known.map(([, value]) => value));
    const { Sheets, SheetNames } = lastBook(files);
    expect(SheetNames).toEqual(['Data Set', 'Sums']);
    const cells = Sheets.Sums ?? {};
    expect([cells.A1.f, cells.A1.v, cells.A3.v, cells.A11.w]).toEqual(["SUM('Data Set'!B1:B4)", 100, 'big', '#DIV/0!']);
    expect([cells.A5.f, cells.A10.f]).toEqual([
      "_xlfn.XLOOKUP(2,'Data Set'!A1:A4,'Data Set'!B1:B4)",
      'CONCATENATE("XLOOKUP(","b")',
    ]);
    expect([cells.A6.v, cells.A6.z]).toEqual([46_348, 'yyyy-mm-dd']);
    const read = await call({ operation: 'read', file: 'Book.xlsx', sheet: 'Sums', range: 'A4:A5' });
    expect(read.data).toMatchObject({ values: [[30], [20]], formulas: { A5: "=XLOOKUP(2,'Data Set'!A1:A4,'Data Set'!B1:B4)" } });
  });

  it('stores texts, numbers, dates and percentages as such', async () => {
    const { files, call } = spreadsheetOf();
    const values = [['0123', '2026-11-22', '12.5%', true, 7.5, "'=not a formula", '2026-02-30', '+1 555']];
    const { data } = await call({ operation: 'create', file: 'a.xlsx', values });
    expect(data.values).toEqual([['0123', '2026-11-22', '12.50%', true, 7.5, '=not a formula', '2026-02-30', '+1 555']]);
    const cells = lastBook(files).Sheets.Sheet1 ?? {};
    expect([cells.A1.t, cells.B1.v, cells.C1.v, cells.F1.f]).toEqual(['s', 46_348, 0.125, undefined]);
  });

  it('fills a range with one formula, whose relative references move', async () => {
    const { call } = spreadsheetOf();
    await call({
      operation: 'create',
      file: 'a.xlsx',
      values: [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    });
    const { data } = await call({ operation: 'formula', file: 'a.xlsx', range: 'C1:C3', values: [['=A1*$B$1&" A1"']] });
    expect(data.formulas).toEqual({ C1: '=A1*$B$1&" A1"', C2: '=A2*$B$1&" A1"', C3: '=A3*$B$1&" A1"' });
    expect(data.values).toEqual([['2 A1'], ['6 A1'], ['10 A1']]);
  });

  it('computes a formula without storing it', async () => {
    const { files, call } = spreadsheetOf();
    await call({
      operation: 'create',
      file: 'a.xlsx',
      values: [
        [1, 2],
        [3, 4],
      ],
    });
    const { data } = await call({ operation: 'formula', file: 'a.xlsx', values: '=SUM(A1:B2)' });
    expect(data.results).toEqual([{ formula: '=SUM(A1:B2)', value: 10 }]);
    expect(files.saved).toHaveLength(1);
  });

  it('keeps the figures of a file, computes anew what it changes, and no formula that the engine gets wrong', async () => {
    const { Sheets } = { Sheets: { Data: excel.utils.aoa_to_sheet([[5], [7], [7], ['a']]) } };
    const sheet = Sheets.Data;
    Object.assign(sheet, {
      '!ref': 'A1:C4',
      B1: { t: 'n', f: 'SUM(A1:A3)', v: 19 },
      B2: { t: 'n', f: 'SUMPRODUCT(--(A1:A3=7))', v: 2 },
      B3: { t: 'n', f: 'B2*10', v: 20 },
      // Only the program that wrote the file knows this one.
      B4: { t: 'n', f: 'MAX("9",A1)', v: 9 },
    });
    const bytes = excel.write({ SheetNames: ['Data'], Sheets }, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
    const { files, call } = spreadsheetOf(new MemoryFiles([file('Figures.xlsx', bytes)]));
    const read = await call({ operation: 'read', file: 'Figures.xlsx', range: 'B1:B4' });
    expect(read.data.values.flat()).toEqual([19, 2, 20, 9]);
    const asked = await call({ operation: 'formula', file: 'Figures.xlsx', values: [['=B2+1', '=SUM(MOD(A1:A3,2))']] });
    expect(asked.data.results.map(({ value }: { value: unknown }) => value)).toEqual([3, '#N/A']);
    expect(asked.data.notComputed).toMatchObject({ count: 1 });
    const written = await call({ operation: 'write', file: 'Figures.xlsx', range: 'A1', values: [[7]] });
    expect(written.data.notComputed.cells).toEqual(['Data!B2', 'Data!B3', 'Data!B4']);
    const after = lastBook(files).Sheets.Data ?? {};
    expect([after.B1?.v, after.B2?.v, after.B2?.f, after.B3?.v]).toEqual([21, undefined, 'SUMPRODUCT(--(A1:A3=7))', undefined]);
  });

  it('lists files and sheets, and gives the data of a chart', async () => {
    const { call } = spreadsheetOf(new MemoryFiles([file('notes.txt', Buffer.from('x'))]));
    await call({
      operation: 'create',
      file: 'a.xlsx',
      sheet: 'S',
      values: [
        ['', 'Sales', 'Share'],
        ['Jan', 5, '10%'],
        ['Feb', 7, null],
      ],
    });
    expect((await call({ operation: 'list' })).data.files).toEqual([{ file: 'a.xlsx', sizeBytes: expect.any(Number) }]);
    expect((await call({ operation: 'list', file: 'a.xlsx' })).data.sheets).toEqual([{ name: 'S', range: 'A1:C3', cells: 7 }]);
    expect((await call({ operation: 'chart_data', file: 'a.xlsx' })).data).toMatchObject({
      labels: ['Jan', 'Feb'],
      series: [
        { name: 'Sales', values: [5, 7] },
        { name: 'Share', values: [0.1, null] },
      ],
    });
  });

  it("changes its own file under one name, and leaves a person's file as it is", async () => {
    const book = excel.utils.book_new(excel.utils.aoa_to_sheet([[1, 2]]), 'S');
    const theirs = excel.write(book, { type: 'buffer', bookType: 'xlsx' });
    const { files, call } = spreadsheetOf(new MemoryFiles([file('theirs.xlsx', theirs)]));
    const first = await call({ operation: 'write', file: 'theirs.xlsx', range: 'C1', values: [['=A1+B1']] });
    expect(first.data).toMatchObject({ file: 'new theirs.xlsx', values: [[3]], note: expect.stringContaining('unchanged') });
    const second = await call({ operation: 'write', file: 'new theirs.xlsx', range: 'A1', values: [[5]] });
    expect(second.data).not.toHaveProperty('note');
    expect(files.saved.map(({ filename }) => filename)).toEqual(['new theirs.xlsx', 'new theirs.xlsx']);
    expect(lastBook(files).Sheets.S?.C1).toMatchObject({ f: 'A1+B1', v: 7 });
  });

  it('reads and writes CSV, in which nothing is a formula', async () => {
    const given = Buffer.from('name;amount\n"A; B";1.5\n=1+1;0123\n');
    const { files, call } = spreadsheetOf(new MemoryFiles([file('in.csv', given)]));
    expect((await call({ operation: 'read', file: 'in.csv' })).data.values).toEqual([
      ['name', 'amount'],
      ['A; B', 1.5],
      ['=1+1', '0123'],
    ]);
    await call({ operation: 'write', file: 'in.csv', range: 'C1', values: [['double'], ['=B2*2']] });
    expect(files.saved.at(-1)?.bytes.toString()).toBe(`name,amount,double\r\n"A; B",1.5,3\r\n'=1+1,0123,\r\n`);
  });

  it.each([
    ['an unknown file', { operation: 'read', file: 'no.xlsx' }, /no spreadsheet "no.xlsx"[\s\S]*"a.xlsx"/],
    ['an unknown sheet', { operation: 'read', file: 'a.xlsx', sheet: 'no' }, /no sheet "no"; there are "Sheet1"/],
    ['a range that is none', { operation: 'read', file: 'a.xlsx', range: 'Sheet1!A1' }, /is no range/],
    ['a range of too many cells', { operation: 'read', file: 'a.xlsx', range: 'A1:Z1000' }, /at most 5000/],
    ['a range beyond the sheet', { operation: 'read', file: 'a.xlsx', range: 'A1:XFE1' }, /ends at XFD1048576/],
    [
      'a range that does not fit',
      { operation: 'write', file: 'a.xlsx', range: 'A1:B2', values: [[1]].concat([[2], [3]]) },
      /has 2 rows/,
    ],
    ['a bad name of a sheet', { operation: 'create', file: 'b.xlsx', sheet: 'a/b', values: [[1]] }, /none of them/],
    ['no values', { operation: 'write', file: 'a.xlsx' }, /needs values/],
    ['an unknown operation', { operation: 'delete' }, /must be one of create, read/],
    [
      'too many cells',
      { operation: 'write', file: 'a.xlsx', values: [Array.from({ length: 5_001 }, () => 1)] },
      /at most 5000 cells/,
    ],
    ['no workbook', { operation: 'read', file: 'broken.xlsx' }, /cannot be read|cannot be worked with/],
  ])('tells the model of %s', async (_what, args, message) => {
    const book = excel.write(excel.utils.book_new(excel.utils.aoa_to_sheet([[1]]), 'Sheet1'), {
      type: 'buffer',
      bookType: 'xlsx',
    });
    const broken = Buffer.from('PK\x03\x04 this is no archive');
    const { call } = spreadsheetOf(new MemoryFiles([file('a.xlsx', book), file('broken.xlsx', broken)]));
    await expect(call(args)).rejects.toThrow(message);
  });

  it('a workbook that takes too much memory or time ends its process and nothing else', async () => {
    const wide = excel.utils.aoa_to_sheet([[1]]);
    const rows = Array.from({ length: 40_000 }, () => ['x'.repeat(300), 'y'.repeat(300)]);
    const large = excel.write(excel.utils.book_new(excel.utils.aoa_to_sheet(rows), 'S'), {
      type: 'buffer',
      bookType: 'xlsx',
      compression: true,
    });
    excel.utils.sheet_add_aoa(wide, [[1]], { origin: 'A1' });
    const files = new MemoryFiles([file('large.xlsx', large)]);
    await expect(spreadsheetOf(files).call({ operation: 'read', file: 'large.xlsx' })).rejects.toThrow(/more than 50000 cells/);
    const small = { memoryMaxBytes: 60 * mebibyte };
    await expect(spreadsheetOf(files, small).call({ operation: 'read', file: 'large.xlsx' })).rejects.toThrow(/too much memory/);
    await expect(spreadsheetOf(files, { timeoutMs: 400 }).call({ operation: 'read', file: 'large.xlsx' })).rejects.toThrow(
      /more than 400 ms of processor time/,
    );
    const deep = `=${'('.repeat(5_000)}1${')'.repeat(5_000)}`;
    const { call } = spreadsheetOf();
    const answer = await call({ operation: 'create', file: 'd.xlsx', values: [[deep]] }).catch((error: unknown) => error);
    expect(answer).toBeDefined();
    expect((await call({ operation: 'create', file: 'e.xlsx', values: [['=1+1']] })).data.values).toEqual([[2]]);
  });
});
