/**
 * Says which formulas the engine computes as spreadsheets do. It gives wrong figures without an error where a range stands for one value: a sign before
 * a condition (`--(A1:A5=7)` is one value), functions of one value over a range (`ISNUMBER(A1:A5)`), an array of criteria, functions that read what
 * FILTER gives (@ironcalc/wasm 0.8.4, see findings/ironcalc-array-conditions.sh). A formula of a form that is not known to be right is not computed.
 */
export function isComputable(formula: string, isRangeName: (name: string) => boolean): boolean {
  const reader = new FormulaReader(formula, isRangeName);
  try {
    reader.readAll();
  } catch (error) {
    // The engine says itself what is no formula, and few are nested deeper than the stack.
    return !(error instanceof RangeError);
  }
  return reader.isComputable;
}

/** What an expression gives: one value, the cells of a range as they stand, or an array that has to be computed. */
type Shape = 'value' | 'range' | 'array';

/** Take any array for each argument. */
const arrayFunctions = new Set(['SUM', 'SUMPRODUCT', 'MAX', 'MIN', 'MATCH', 'INDEX', 'FILTER', 'SUMSQ', 'COUNTA']);
/** Take ranges as they stand; what is no range in them is one value. */
const rangeFunctions = new Set(
  `AND AREAS AVEDEV AVERAGE AVERAGEA AVERAGEIF AVERAGEIFS CELL CHISQ.TEST CHOOSE COLUMNS CONCAT CORREL COUNT COUNTBLANK COUNTIF COUNTIFS COVAR COVARIANCE.P
  COVARIANCE.S DEVSQ FORECAST FORECAST.LINEAR FORMULATEXT GCD GEOMEAN HARMEAN HLOOKUP IF IFS INTERCEPT IRR ISFORMULA ISREF KURT LARGE LCM LOOKUP MAXA MAXIFS
  MDETERM MEDIAN MINA MINIFS MINVERSE MIRR MMULT MODE MODE.SNGL MULTINOMIAL NETWORKDAYS NETWORKDAYS.INTL NPV OFFSET OR PEARSON PERCENTILE PERCENTILE.EXC
  PERCENTILE.INC PERCENTRANK PERCENTRANK.EXC PERCENTRANK.INC PRODUCT QUARTILE QUARTILE.EXC QUARTILE.INC RANK RANK.AVG RANK.EQ ROWS RSQ SHEET SHEETS SKEW
  SKEW.P SLOPE SMALL SORT SORTBY STDEV STDEV.P STDEV.S STDEVA STDEVP STDEVPA STEYX SUBTOTAL SUMIF SUMIFS SUMX2MY2 SUMX2PY2 SUMXMY2 SWITCH TEXTJOIN
  TRANSPOSE TRIMMEAN UNIQUE VAR VAR.P VAR.S VARA VARP VARPA VLOOKUP WORKDAY WORKDAY.INTL XIRR XLOOKUP XMATCH XNPV XOR`.split(
    /\s+/,
  ),
);
/** Give arrays. */
const arraySources = new Set(
  'FILTER MMULT MINVERSE RANDARRAY SEQUENCE SORT SORTBY TRANSPOSE UNIQUE TAKE DROP TOCOL TOROW HSTACK VSTACK TEXTSPLIT MAP BYROW BYCOL SCAN'.split(
    ' ',
  ),
);
/** Which arguments are one value, though others of the function are ranges: a criterion, what is looked for, a place in an order. */
const valueArguments: Readonly<Record<string, (place: number) => boolean>> = {
  ...Object.fromEntries(
    ['COUNTIF', 'SUMIF', 'AVERAGEIF', 'LARGE', 'SMALL'].map((name) => [name, (place: number) => place === 1]),
  ),
  ...Object.fromEntries(
    ['VLOOKUP', 'HLOOKUP', 'LOOKUP', 'XLOOKUP', 'MATCH', 'XMATCH', 'IF', 'CHOOSE', 'SWITCH'].map((name) => [
      name,
      (place: number) => place === 0,
    ]),
  ),
  COUNTIFS: (place) => place % 2 === 1,
  ...Object.fromEntries(
    ['SUMIFS', 'AVERAGEIFS', 'MAXIFS', 'MINIFS'].map((name) => [name, (place: number) => place > 0 && place % 2 === 0]),
  ),
  IFS: (place) => place % 2 === 0,
};

const token =
  /"[^"]*"|'[^']*'|!|\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}(?![\w.(!])|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}(?![\w.(])|\$?\d{1,7}:\$?\d{1,7}|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|#[A-Z/0]+[!?]?|[\p{L}_\\][\p{L}\d_.\\]*(?:\[[^\]]*\])?|<>|<=|>=|[-+*/^&=<>%(){},;:@#]/gu;

class FormulaReader {
  isComputable = true;
  readonly #tokens: readonly string[];
  readonly #isRangeName: (name: string) => boolean;
  #place = 0;

  constructor(formula: string, isRangeName: (name: string) => boolean) {
    this.#tokens = formula.match(token) ?? [];
    this.#isRangeName = isRangeName;
  }

  readAll(): void {
    while (this.#place < this.#tokens.length) {
      this.#readExpression();
      this.#place += 1;
    }
  }

  get #next(): string | undefined {
    return this.#tokens[this.#place];
  }

  #readExpression(parent?: string): Shape {
    let shape = this.#readOperand(parent);
    while (this.#next !== undefined && /^(?:[-+*/^&=<>]|<>|<=|>=)$/.test(this.#next)) {
      this.#place += 1;
      const other = this.#readOperand(parent);
      shape = shape === 'value' && other === 'value' ? 'value' : 'array';
    }
    return shape;
  }

  /** A value with the signs before and behind it. */
  #readOperand(parent?: string): Shape {
    if (this.#next === '-' || this.#next === '+') {
      this.#place += 1;
      const shape = this.#readOperand();
      if (shape !== 'value') this.isComputable = false;
      return shape;
    }
    if (this.#next === '@') {
      this.#place += 1;
      this.#readOperand(parent);
      return 'value';
    }
    let shape = this.#readPrimary(parent);
    while (this.#next === '%' || this.#next === '#' || this.#next === ':') {
      // The range of two cells; a range that an array formula fills.
      shape = this.#next === '%' ? shape : 'range';
      const isRange = this.#next === ':';
      this.#place += 1;
      if (isRange) this.#readPrimary();
    }
    return shape;
  }

  #readPrimary(parent?: string): Shape {
    const text = this.#next ?? '';
    this.#place += 1;
    if (text === '(') {
      const shape = this.#readExpression(parent);
      if (this.#next === ')') this.#place += 1;
      return shape;
    }
    if (text === '{') {
      while (this.#next !== undefined && this.#next !== '}') this.#place += 1;
      this.#place += 1;
      return 'range';
    }
    if (text.startsWith('"')) {
      // A doubled quote within a text.
      while (this.#next?.startsWith('"') === true) this.#place += 1;
      return 'value';
    }
    // The name of a sheet.
    if (this.#next === '!') {
      this.#place += 1;
      return this.#readPrimary(parent);
    }
    if (this.#next === '(' && /^[\p{L}_]/u.test(text))
      return this.#readCall(text.toUpperCase().replace(/^_XLFN\.(?:_XLWS\.)?/, ''), parent);
    if (/^\$?[A-Za-z]*\$?\d*:/.test(text) || text.includes('[')) return 'range';
    return /^[\p{L}_\\]/u.test(text) && this.#isRangeName(text) ? 'range' : 'value';
  }

  #readCall(name: string, parent: string | undefined): Shape {
    this.#place += 1;
    const shapes: Shape[] = [];
    const start = this.#place;
    let isConstant = false;
    while (this.#next !== undefined && this.#next !== ')') {
      if (this.#next === ',' || this.#next === ';') {
        this.#place += 1;
        continue;
      }
      isConstant ||= this.#next === '{';
      const before = this.#place;
      shapes.push(this.#readExpression(name));
      // What stands here is no part of a formula that this reader knows; the engine will say so.
      if (this.#place === before) this.#place += 1;
    }
    // TEXTJOIN puts a separator around empty texts that it is told to leave out.
    if (name === 'TEXTJOIN' && this.#tokens.slice(start + 1, this.#place).includes('""')) this.isComputable = false;
    this.#place += 1;
    const isConditions = name === 'IF' && shapes[0] === 'array';
    const isKnown = isConditions
      ? (parent === 'SUM' || shapes.length === 3) && parent !== undefined && arrayFunctions.has(parent)
      : shapes.every((shape, place) => accepts(name, shape, place));
    // XLOOKUP finds nothing in arrays that are written out.
    if (!isKnown || (isConstant && /^X(?:LOOKUP|MATCH)$/.test(name))) this.isComputable = false;
    if (isConditions || arraySources.has(name)) return 'array';
    return givesRange(name, shapes, parent) ? 'range' : 'value';
  }
}

function givesRange(name: string, shapes: readonly Shape[], parent: string | undefined): boolean {
  if (name === 'OFFSET') return shapes.length > 3;
  if (name === 'INDIRECT') return parent === 'ROW' || parent === 'COLUMN';
  return (name === 'IF' || name === 'CHOOSE') && shapes.includes('range');
}

function accepts(name: string, shape: Shape, place: number): boolean {
  if (shape === 'value') return true;
  if (name !== 'MATCH' && valueArguments[name]?.(place) === true) return false;
  if (name === 'MATCH' && place === 0) return false;
  return arrayFunctions.has(name) || (shape === 'range' && (rangeFunctions.has(name) || arraySources.has(name)));
}
