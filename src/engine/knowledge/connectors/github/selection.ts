import { extname } from 'node:path/posix';

/** Largest text file that is read. */
export const fileBytesMax = 1024 * 1024;

/** Folders with code of others, or with what a build makes. */
const foreignFolders = new Set([
  'node_modules',
  'bower_components',
  'vendor',
  'third_party',
  '.git',
  '.venv',
  'venv',
  '__pycache__',
  'dist',
  '.next',
  '.yarn',
  'Pods',
]);
/** Locks of packages are long lists of hashes. */
const foreignFiles = new Set([
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'composer.lock',
  'Cargo.lock',
  'poetry.lock',
  'go.sum',
]);
const binaryEndings = new Set(
  `.7z .a .avi .bin .bmp .bz2 .class .dll .dmg .doc .docx .dylib .eot .exe .flac .gif .gz .ico .icns .iso .jar .jpeg .jpg .lib .mkv .mov .mp3 .mp4
   .o .obj .odt .ogg .otf .pdf .png .ppt .pptx .psd .pyc .rar .so .sqlite .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webp .woff .woff2 .xls .xlsx
   .xz .zip .zst`.split(/\s+/),
);

export interface Skipped {
  /** The file, or the folder that is left out as a whole. */
  readonly path: string;
  readonly code: 'UNSUPPORTED' | 'TOO_LARGE';
  readonly message: string;
}

/** Why a file is not read; undefined when it is. What is in a folder of others is left out with the folder. */
export function findSkipReason(path: string, sizeBytes: number): Skipped | undefined {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const at = parts.slice(0, -1).findIndex((part) => foreignFolders.has(part));
  if (at !== -1) {
    const folder = parts.slice(0, at + 1).join('/');
    return {
      path: `${folder}/`,
      code: 'UNSUPPORTED',
      message: `The folder ${folder} holds code of others or what a build made: it is not read.`,
    };
  }
  if (foreignFiles.has(name)) return { path, code: 'UNSUPPORTED', message: 'A lock of packages is not read.' };
  if (binaryEndings.has(extname(name).toLowerCase()))
    return { path, code: 'UNSUPPORTED', message: 'Of repositories, text files are read only.' };
  if (sizeBytes > fileBytesMax)
    return { path, code: 'TOO_LARGE', message: `The file has ${sizeBytes} bytes; text files up to ${fileBytesMax} are read.` };
  return undefined;
}

/** Whether bytes are text: the test that version control itself makes. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 8_000).includes(0);
}
