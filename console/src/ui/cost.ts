type FormatNumber = (value: number, options?: Intl.NumberFormatOptions) => string;

/** Money as people read it. Answers cost parts of a cent: those keep two digits that say something. */
export function formatCost(cost: number, currency: string, number: FormatNumber): string {
  if (cost === 0 || cost >= 0.1) return number(cost, { style: 'currency', currency });
  const decimals = Math.min(12, 1 - Math.floor(Math.log10(cost)));
  return number(cost, { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: Math.max(2, decimals) });
}
