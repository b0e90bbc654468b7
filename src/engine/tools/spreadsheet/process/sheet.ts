/** A cell as the library of files has it. */
export interface CellObject {
  t: 'n' | 's' | 'b' | 'e' | 'z';
  v?: string | number | boolean;
  /** Without `=`. */
  f?: string;
  /** The number format. */
  z?: string;
}

export interface Sheet {
  name: string;
  readonly cells: Map<string, CellObject>;
  /** What the file says of the sheet beside its cells: widths, merged cells. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface Workbook {
  readonly sheets: Sheet[];
  readonly names: readonly { readonly Name: string; readonly Ref: string; readonly Sheet?: number }[];
}
