/** A file with the name that the source shows: of a file in a folder, with the folders that it is in. */
export interface NamedFile {
  readonly file: File;
  readonly name: string;
  /** The folder that was dropped or chosen; undefined for a single file. */
  readonly folder: string | undefined;
}

/** Files of a folder that nobody wants to read. */
const isHidden = (name: string) => name.startsWith('.') || name === 'Thumbs.db' || name === 'desktop.ini';

/** The files of a choice: of a folder, all that is in it. */
export function chosenFiles(list: Iterable<File>): readonly NamedFile[] {
  return [...list].flatMap((file) => {
    const parts = file.webkitRelativePath === '' ? [file.name] : file.webkitRelativePath.split('/');
    return nameFile(file, parts);
  });
}

/** The files that were dropped, with those in dropped folders. It must be called before the event is over. */
export async function droppedFiles(transfer: DataTransfer): Promise<readonly NamedFile[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  // The list is empty as soon as the event is over.
  const places = items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const lists = await Promise.all(
    places.map(async ({ entry, file }) => {
      if (entry?.isDirectory === true) return filesIn(entry as FileSystemDirectoryEntry, [entry.name]);
      return file === null ? [] : nameFile(file, [file.name]);
    }),
  );
  return lists.flat();
}

async function filesIn(folder: FileSystemDirectoryEntry, path: readonly string[]): Promise<readonly NamedFile[]> {
  const files: NamedFile[] = [];
  for (const entry of await listEntries(folder)) {
    const parts = [...path, entry.name];
    if (entry.isDirectory && !isHidden(entry.name)) files.push(...(await filesIn(entry as FileSystemDirectoryEntry, parts)));
    if (entry.isFile) files.push(...nameFile(await getFile(entry as FileSystemFileEntry), parts));
  }
  return files;
}

/** A reader gives a hundred entries at a time. */
async function listEntries(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

function getFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** @param parts  the names from the dropped folder down to the file. */
function nameFile(file: File, parts: readonly string[]): readonly NamedFile[] {
  if (parts.some(isHidden)) return [];
  const folder = parts.length > 1 ? parts[0] : undefined;
  const within = parts.slice(folder === undefined ? 0 : 1);
  return [{ file, folder, name: getName(within) }];
}

const nameMax = 200;

/** The service keeps no path of a file, but the name of its folder tells which of many "README.md" it is. */
function getName(parts: readonly string[]): string {
  const whole = parts.join(' › ');
  return whole.length <= nameMax ? whole : `…${whole.slice(1 - nameMax)}`;
}
