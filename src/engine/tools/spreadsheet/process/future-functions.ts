/** Functions that a file names with a prefix, because they are younger than its format. Excel shows `#NAME?` without it. */
const future =
  /\b(ACOT|ACOTH|AGGREGATE|ARABIC|BASE|BITAND|BITLSHIFT|BITOR|BITRSHIFT|BITXOR|BYCOL|BYROW|CEILING\.MATH|CHOOSECOLS|CHOOSEROWS|COMBINA|CONCAT|COT|COTH|CSC|CSCH|DAYS|DECIMAL|DROP|EXPAND|FLOOR\.MATH|FORMULATEXT|HSTACK|IFNA|IFS|ISFORMULA|ISOWEEKNUM|LAMBDA|LET|MAKEARRAY|MAP|MAXIFS|MINIFS|NORM\.DIST|NORM\.INV|NUMBERVALUE|PDURATION|PERCENTILE\.EXC|PERCENTILE\.INC|QUARTILE\.EXC|QUARTILE\.INC|RANDARRAY|RANK\.AVG|RANK\.EQ|REDUCE|RRI|SCAN|SEC|SECH|SEQUENCE|SHEET|SHEETS|SORTBY|STDEV\.P|STDEV\.S|SWITCH|TAKE|TEXTAFTER|TEXTBEFORE|TEXTJOIN|TEXTSPLIT|TOCOL|TOROW|UNICHAR|UNICODE|UNIQUE|VALUETOTEXT|VAR\.P|VAR\.S|VSTACK|WRAPCOLS|WRAPROWS|XLOOKUP|XMATCH|XOR)(?=\()/gi;
const worksheet = /\b(FILTER|SORT)(?=\()/gi;

/** A formula as a file holds it. Text in quotes stays as it is. */
export function formulaForFile(formula: string): string {
  return formula
    .split(/("(?:[^"]|"")*")/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replaceAll(/_xlfn\.(?:_xlws\.)?/gi, '')
            .replaceAll(future, (name) => `_xlfn.${name.toUpperCase()}`)
            .replaceAll(worksheet, (name) => `_xlfn._xlws.${name.toUpperCase()}`),
    )
    .join('');
}

/** A formula as people write it. */
export function plainFormula(formula: string): string {
  return formula.replaceAll(/_xl(?:fn|ws|pm)\./gi, '');
}
