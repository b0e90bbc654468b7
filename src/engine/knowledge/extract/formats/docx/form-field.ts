/** The field of a form, whose choice is in the document as a number or a mark and not as text. */
export class FormField {
  #entries: string[] = [];
  #chosen: number | undefined;
  #preset = 0;
  #kind: 'list' | 'box' | undefined;

  /** @param value  of the element's attribute `val`. */
  open(name: string, value: string | undefined): void {
    if (name === 'ffData') this.#clear();
    else if (name === 'ddList') this.#kind = 'list';
    else if (name === 'checkBox') this.#kind = 'box';
    else if (name === 'listEntry') this.#entries.push(value ?? '');
    else if (name === 'default') this.#preset = this.#toNumber(value);
    else if (name === 'result' || name === 'checked') this.#chosen = this.#toNumber(value ?? '1');
  }

  /** @returns what the field shows; `''` for one whose text stands in the document. */
  take(): string {
    const chosen = this.#chosen ?? this.#preset;
    const kind = this.#kind;
    this.#kind = undefined;
    if (kind === undefined) return '';
    return kind === 'list' ? (this.#entries[chosen] ?? '') : chosen === 0 ? '☐' : '☒';
  }

  #clear(): void {
    this.#entries = [];
    this.#chosen = undefined;
    this.#preset = 0;
    this.#kind = undefined;
  }

  #toNumber(value: string | undefined): number {
    return value === 'true' || value === 'on' ? 1 : Number(value) || 0;
  }
}
