/** Kinds of files that hold no text which could be read, by the start of their declared type and by the endings of their names. */
const unreadable: readonly { readonly kind: string; readonly type: RegExp; readonly endings: string }[] = [
  {
    kind: 'an image',
    type: /^image\//,
    endings: 'apng avif bmp cr2 dng gif heic heif ico jfif jpeg jpg jxl nef png psd raw svgz tif tiff webp',
  },
  { kind: 'a video', type: /^video\//, endings: '3gp avi flv m4v mkv mov mp4 mpeg mpg mts ogv webm wmv' },
  { kind: 'a sound', type: /^audio\//, endings: 'aac aif aiff amr flac m4a mid midi mp3 oga ogg opus wav wma' },
  { kind: 'a font', type: /^font\/|^application\/(?:x-)?font/, endings: 'eot otf ttc ttf woff woff2' },
  {
    kind: 'an archive',
    type: /^application\/(?:(?:x-)?(?:zip|zip-compressed|gzip|bzip2?|xz|tar|7z-compressed|rar(?:-compressed)?|zstd)|vnd\.rar)$/,
    endings: '7z apk br bz2 cab deb ear gz iso jar rar rpm tar tbz2 tgz txz war whl xz zip zst',
  },
  {
    kind: 'a program or its data',
    type: /^application\/(?:x-(?:msdownload|executable|sharedlib|mach-binary|sqlite3|ms-shortcut)|vnd\.microsoft\.portable-executable|wasm|java-vm)$/,
    endings: 'bin class db dll dmg dylib exe img lnk mdb msi pdb pyc pyo sqlite sqlite3 sys vhd vmdk wasm',
  },
  {
    kind: 'a drawing or a model',
    type: /^model\//,
    endings: 'blend dwg dxf eps fbx fig glb gltf indd rvt sketch skp stl vsd vsdx',
  },
];

const endingOf = new Map(unreadable.flatMap(({ kind, endings }) => endings.split(' ').map((ending) => [ending, kind] as const)));
/** Types that say nothing, or that services also give to text. */
const vague = /^image\/svg\+xml$|^video\/(?:mp2t|vnd\.dlna\.mpeg-tts)$/;

/**
 * What a file is when its name or its declared type shows that it holds no text, such as "an image". Undefined for all others: their bytes decide.
 * The name decides before the type, because services guess types from names, and wrongly (`.ts` is no video in a folder of programs).
 */
export function unreadableKind(filename: string, mimeType: string): string | undefined {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase();
  const endingKind = ending === undefined ? undefined : endingOf.get(ending);
  if (endingKind !== undefined) return endingKind;
  const type = mimeType.toLowerCase();
  if (vague.test(type)) return undefined;
  // A package of an office program is an archive, and its name says what it holds.
  if (ending !== undefined && readableEndings.has(ending)) return undefined;
  return unreadable.find((one) => one.type.test(type))?.kind;
}

const readableEndings: ReadonlySet<string> = new Set(
  'csv doc docx eml epub htm html json jsonl md markdown odp ods odt pdf ppt pptx rtf tsv txt xhtml xls xlsb xlsx xml'.split(' '),
);
