const lengthMax = 200;

/** The file name without path and control characters; never empty, `.` or `..`. */
export function safeFilename(name: string): string {
  const last = name.toWellFormed().split(/[\\/]/).at(-1) ?? '';
  const plain = last
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, lengthMax);
  return plain === '' || /^\.+$/.test(plain) ? 'file' : plain;
}

/** The name, with a number before its ending where it is taken: `plot (2).png`. */
export function freeFilename(name: string, takenNames: ReadonlySet<string>): string {
  const plain = safeFilename(name);
  if (!takenNames.has(plain)) return plain;
  const dot = plain.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [plain.slice(0, dot), plain.slice(dot)] : [plain, ''];
  for (let number = 2; ; number += 1) {
    const free = `${stem} (${number})${ending}`;
    if (!takenNames.has(free)) return free;
  }
}
