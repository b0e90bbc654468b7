/** A form in which Google gives a document that it keeps in a form of its own. */
export interface NativeExport {
  readonly mimeType: string;
  /** Of the file's name. */
  readonly ending: string;
}

const prefix = 'application/vnd.google-apps.';
const plain: NativeExport = { mimeType: 'text/plain', ending: '.txt' };
const officePrefix = 'application/vnd.openxmlformats-officedocument.';

/** The first form is asked for; the others are taken where a document is too large for an export and has links to these forms only. */
const exports: Readonly<Record<string, readonly [NativeExport, ...NativeExport[]]>> = {
  document: [{ mimeType: 'text/markdown', ending: '.md' }, plain],
  spreadsheet: [{ mimeType: `${officePrefix}spreadsheetml.sheet`, ending: '.xlsx' }],
  presentation: [
    plain,
    { mimeType: `${officePrefix}presentationml.presentation`, ending: '.pptx' },
    { mimeType: 'application/pdf', ending: '.pdf' },
  ],
};

const names: Readonly<Record<string, string>> = {
  drawing: 'a Google drawing',
  form: 'a Google form',
  map: 'a Google map',
  site: 'a Google site',
  script: 'an Apps Script project',
  jam: 'a Jamboard',
  vid: 'a Google video',
  'drive-sdk': 'a file of another application',
};

export function isNative(mimeType: string): boolean {
  return mimeType.startsWith(prefix);
}

/** In which form a document is exported; undefined when it is no document of Google's, or cannot be exported as text. */
export function findExport(mimeType: string): NativeExport | undefined {
  return listExports(mimeType)[0];
}

export function listExports(mimeType: string): readonly NativeExport[] {
  return isNative(mimeType) ? (exports[mimeType.slice(prefix.length)] ?? []) : [];
}

export function nameOfNative(mimeType: string): string {
  return names[mimeType.slice(prefix.length).split('.')[0] ?? ''] ?? `a Google file of the type ${mimeType.slice(prefix.length)}`;
}
