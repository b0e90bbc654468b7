const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes for people: `1.5 MiB`. */
export function size(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
