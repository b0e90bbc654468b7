const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const money = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 });

export const count = (value: number) => whole.format(value);
export const compact = (value: number) => short.format(value);
export const cost = (value: number | null | undefined) => (value == null ? '–' : money.format(value));

/** `840 ms`, `2.4 s`, `3 min`. */
export function duration(ms: number | null | undefined): string {
  if (ms == null) return '–';
  if (ms < 1_000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** `IN_PROGRESS` as `in progress`. */
export const words = (value: string) => value.toLowerCase().replaceAll('_', ' ');
