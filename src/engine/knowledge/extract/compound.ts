/** The first bytes of a compound file, the container of Office 97 to 2003 and of encrypted later documents. */
const magic = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const entryBytes = 128;
/** Sectors of the directory that are read: 4,096 names or more. */
const directorySectorsMax = 1_024;
const endOfChain = 0xfffffffa;

export function isCompound(bytes: Uint8Array): boolean {
  return magic.equals(bytes.subarray(0, magic.length));
}

/** Names of the streams and storages at the top of a compound file; empty when its directory cannot be read. */
export function compoundNames(bytes: Uint8Array): ReadonlySet<string> {
  const entries = directoryOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const names = new Set<string>();
  const seen = new Set<number>();
  const open = [entries[0]?.child ?? -1];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const entry = entries[index];
    if (entry === undefined || seen.has(index)) continue;
    seen.add(index);
    if (entry.name !== '') names.add(entry.name);
    open.push(entry.left, entry.right);
  }
  return names;
}

/** An entry of the directory; the entries of one storage are a tree. */
interface DirectoryEntry {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  /** The top of the tree inside a storage. */
  readonly child: number;
}

function directoryOf(view: Buffer): readonly DirectoryEntry[] {
  const entries: DirectoryEntry[] = [];
  const shift = view.length < 512 ? 0 : view.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return entries;
  const size = 2 ** shift;
  const seen = new Set<number>();
  let sector = view.readUInt32LE(48);
  while (sector < endOfChain && !seen.has(sector) && seen.size < directorySectorsMax) {
    seen.add(sector);
    const start = (sector + 1) * size;
    for (let at = start; at + entryBytes <= Math.min(start + size, view.length); at += entryBytes) {
      const nameBytes = Math.max(2, Math.min(64, view.readUInt16LE(at + 64)));
      const name = view.toString('utf16le', at, at + nameBytes - 2);
      const [left, right, child] = [68, 72, 76].map((offset) => view.readUInt32LE(at + offset));
      entries.push({ name, left: left ?? 0, right: right ?? 0, child: child ?? 0 });
    }
    sector = nextSector(view, sector, size);
  }
  return entries;
}

/** The allocation table says which sector follows; the header has the places of its first 109 sectors, which is enough for 7 MB. */
function nextSector(view: Buffer, sector: number, size: number): number {
  const perSector = size / 4;
  const table = Math.floor(sector / perSector);
  if (table >= 109) return endOfChain;
  const at = (view.readUInt32LE(76 + table * 4) + 1) * size + (sector % perSector) * 4;
  return at + 4 <= view.length ? view.readUInt32LE(at) : endOfChain;
}
