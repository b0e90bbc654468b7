/** Writes the same text for what differs from run to run: ids, times, secrets, cursors, the address of the service. */
export class Steady {
  readonly #ids = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #texts: readonly (readonly [real: string, shown: string])[];
  /** Times that requests name. */
  readonly #times: ReadonlySet<string>;

  /** @param texts  known values and what stands for them. @param requests  the text of all requests. */
  constructor(texts: readonly (readonly [string, string])[], requests: string) {
    this.#texts = texts;
    this.#times = new Set(requests.match(timePattern) ?? []);
  }

  text(text: string): string {
    let steady = text;
    for (const [real, shown] of this.#texts) steady = steady.replaceAll(real, shown);
    steady = steady.replaceAll(timePattern, (time) => (this.#times.has(time) ? time : '<time>'));
    for (const [pattern, shown] of replacements) steady = steady.replaceAll(pattern, shown);
    return steady.replaceAll(idPattern, (id, prefix: string) => this.#id(id, prefix));
  }

  #id(id: string, prefix: string): string {
    const shown = this.#ids.get(id);
    if (shown !== undefined) return shown;
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    this.#ids.set(id, `<${prefix}:${count}>`);
    return `<${prefix}:${count}>`;
  }
}

const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** A prefix, and a TypeID or the digest that the offline model makes of a conversation and the time. */
const idPattern = /\b([a-z]+)[_-](?:[0-7][0-9a-hjkmnp-tv-z]{25}|[0-9a-f]{24})(?![0-9a-z])/g;

const replacements: readonly (readonly [RegExp, string])[] = [
  [/\breq_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, '<request>'],
  [/date=(\\*)"\d{4}-\d\d-\d\d/g, 'date=$1"<date>'],
  [/Current date: [^"\\]*UTC/g, 'Current date: <date>'],
  [/"(created|\w+_at)":1\d{9}\b/g, '"$1":1700000000'],
  [/"(\w+(?:_ms|Ms))":\d+(?:\.\d+)?/g, '"$1":1'],
  [/"(obfuscation|encrypted_content)":"[^"]*"/g, '"$1":"<$1>"'],
  [/"(nextCursor|endCursor)":"[^"]*"/g, '"$1":"<cursor>"'],
  // Written some time after the use.
  [/"lastUsedAt":(?:null|"<time>")/g, '"lastUsedAt":"<time or null>"'],
  [/([?#](?:link|invitation))=[\w.%-]+/g, '$1=<token>'],
  [/ticket=[\w.%-]+/g, 'ticket=<ticket>'],
  [/"prefix":"pk_\w{4}"/g, '"prefix":"<prefix>"'],
  [/\bpk_\w{20,}/g, '<secret of a key>'],
  [/\bwhsec_[\w+/]+=*/g, '<secret of a webhook>'],
];
