const barMax = 50;

/** Bars of equal scale, one a line: `2026-11-22  ██████████  1,204`. */
export function plot(values: readonly { readonly label: string; readonly value: number }[]): string {
  const most = Math.max(1, ...values.map(({ value }) => value));
  const width = Math.max(0, ...values.map(({ label }) => label.length));
  return values
    .map(({ label, value }) => {
      // What is there is seen, however little it is.
      const length = value === 0 ? 0 : Math.max(1, Math.round((value / most) * barMax));
      return `${label.padEnd(width)}  ${'█'.repeat(length)}${length === 0 ? '' : '  '}${counted(value)}`;
    })
    .join('\n');
}

/** `1,204`. */
export function counted(value: number): string {
  return value.toLocaleString('en');
}
