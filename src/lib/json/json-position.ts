const tokenPattern =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

type Expected = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/** A longer search would block other requests because of one broken body. */
const searchedMax = 1_000_000;

/**
 * Where a text stops being JSON: the index of the first invalid character; undefined when the first million characters are valid.
 * V8's own message often lacks it. One pass without recursion; for texts that `JSON.parse` has refused.
 */
export function jsonErrorPosition(text: string): number | undefined {
  const open: ('{' | '[')[] = [];
  let expectedToken: Expected = 'value';
  let position = 0;
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : 'comma-or-end');
  for (;;) {
    if (position > searchedMax) return undefined;
    tokenPattern.lastIndex = position;
    const match = tokenPattern.exec(text);
    const start = skipSpace(text, position);
    if (match === null) return start;
    const [, mark, string, number, word] = match;
    const next = step(expectedToken, open, mark, string !== undefined, number !== undefined || word !== undefined, afterValue);
    if (next === undefined) return start;
    expectedToken = next;
    position = tokenPattern.lastIndex;
  }
}

function step(
  expectedToken: Expected,
  open: ('{' | '[')[],
  mark: string | undefined,
  isString: boolean,
  isScalar: boolean,
  afterValue: () => Expected,
): Expected | undefined {
  if (expectedToken === 'nothing') return undefined;
  if (expectedToken === 'colon') return mark === ':' ? 'value' : undefined;
  if (expectedToken === 'value' || expectedToken === 'value-or-end') {
    if (isString || isScalar) return afterValue();
    if (mark === '{' || mark === '[') {
      open.push(mark);
      return mark === '{' ? 'name-or-end' : 'value-or-end';
    }
    if (mark !== ']' || expectedToken === 'value') return undefined;
  } else if (expectedToken === 'name' || expectedToken === 'name-or-end') {
    if (isString) return 'colon';
    if (mark !== '}' || expectedToken === 'name') return undefined;
  } else if (mark === ',') return open.at(-1) === '{' ? 'name' : 'value';
  const opener = open.pop();
  if ((mark === '}' && opener === '{') || (mark === ']' && opener === '[')) return afterValue();
  return undefined;
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (index < text.length && ' \t\n\r'.includes(text.charAt(index))) index += 1;
  return index;
}
