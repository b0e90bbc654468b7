import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  readonly content: string | Uint8Array;
  /** Stored without compression, as the first part of some formats must be. */
  readonly isStored?: boolean;
  /** The size that the directory states, if it lies. */
  readonly statedSize?: number;
  readonly isEncrypted?: boolean;
}

/** A ZIP archive of these parts, in order. */
export function zip(parts: Readonly<Record<string, string | Uint8Array | ZipPart>>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  let count = 0;
  for (const [name, part] of Object.entries(parts)) {
    const { content, isStored = false, statedSize, isEncrypted = false }: ZipPart = isPart(part) ? part : { content: part };
    const bytes = Buffer.from(content);
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const nameBytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE((isEncrypted ? 1 : 0) | 0x800, 2);
    common.writeUInt16LE(isStored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(statedSize ?? bytes.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    files.push(Buffer.from('PK\x03\x04'), common, nameBytes, packed);
    const entry = Buffer.alloc(46);
    entry.write('PK\x01\x02', 0, 'latin1');
    entry.writeUInt16LE(20, 4);
    common.copy(entry, 6, 0, 24);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, nameBytes);
    offset += 30 + nameBytes.length + packed.length;
    count += 1;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, ...directory, end]);
}

function isPart(part: string | Uint8Array | ZipPart): part is ZipPart {
  return typeof part === 'object' && 'content' in part;
}
