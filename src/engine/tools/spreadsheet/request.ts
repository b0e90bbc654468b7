/** What the process of workbooks is asked; the bytes of the file follow. */
export interface WorkbookRequest {
  readonly operation: 'create' | 'read' | 'write' | 'formula' | 'chart_data' | 'sheets';
  /** The kind of the given bytes and of the bytes to write. */
  readonly from: FileKind;
  readonly to: FileKind;
  readonly sheet: string | null;
  readonly range: string | null;
  /** Rows of values, as a model wrote them. */
  readonly values: readonly (readonly CellInput[])[] | null;
}

/** Excel covers xlsx, xlsm, xlsb, xls and ods, which are told apart by their bytes. Only xlsx and csv are written. */
export type FileKind = 'excel' | 'csv';
export type CellInput = string | number | boolean | null;

export interface WorkbookAnswer {
  /** For the model; undefined after an error. */
  readonly result?: Readonly<Record<string, unknown>>;
  /** A sentence for the model. */
  readonly error?: string;
  /** Whether the bytes of the new file follow. */
  readonly isWritten?: boolean;
}

/** Cells with content of a whole workbook. */
export const workbookCellsMax = 50_000;
export const sheetsMax = 50;
/** Cells that one call reads or writes. */
export const callCellsMax = 5_000;
/** Excel's own limit of the text of one cell. */
export const cellTextMax = 32_767;
export const rowsMax = 1_048_576;
export const columnsMax = 16_384;
