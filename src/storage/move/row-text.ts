import { hash } from 'node:crypto';

/** A row in the text format of COPY, as PostgreSQL writes it: values are texts of the types' own output functions, null is `\N`. */
export function rowText(values: readonly (string | null)[]): string {
  return `${values.map((value) => (value === null ? '\\N' : escaped(value))).join('\t')}\n`;
}

const special = /[\\\b\f\n\r\t\v]/;
const letters: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

function escaped(value: string): string {
  return special.test(value) ? value.replaceAll(/[\\\b\f\n\r\t\v]/g, (sign) => letters[sign] ?? sign) : value;
}

/** The number of rows and a sum over their hashes, the same in whatever order the rows come. */
export class RowSum {
  rows = 0;
  #sum = 0n;

  /** @param line  of the text format, with its line break. */
  add(line: Buffer | string): void {
    this.rows += 1;
    this.#sum = BigInt.asUintN(128, this.#sum + BigInt(`0x${hash('sha256', line, 'hex').slice(0, 32)}`));
  }

  get digest(): string {
    return this.#sum.toString(16).padStart(32, '0');
  }
}

/** Cuts a stream of the text format into its lines. A line break within a value is escaped. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let lineStart: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = chunk.subarray(from, end + 1);
      yield lineStart.length === 0 ? line : Buffer.concat([...lineStart, line]);
      lineStart = [];
      from = end + 1;
    }
    if (from < chunk.length) lineStart.push(chunk.subarray(from));
  }
}
