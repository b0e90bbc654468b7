/** A number in a text: with thousands in groups of three, and a decimal point or comma. */
const numberPattern = /(?<![\p{L}\d.])[-−]?\d{1,15}(?:[ '’,.]\d{3}(?!\d)){0,4}(?:[.,]\d{1,10}(?!\d))?/gu;

/** The numbers that stand in a text. `1,234` and `1.234` are thousands, `1,5` and `1.5` are one and a half. */
export function findNumbers(text: string): readonly number[] {
  return (text.match(numberPattern) ?? []).map(readNumber).filter(Number.isFinite);
}

/** Whether a number differs from another by at most a share of it. */
export function isWithin(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value - wanted) <= Math.abs(wanted) * tolerance + Number.EPSILON * Math.abs(wanted);
}

function readNumber(source: string): number {
  const digits = source.replaceAll('−', '-').replaceAll(/[ '’]/g, '');
  const point = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (point === -1) return Number(digits);
  const sign = digits[point] ?? '';
  const whole = digits.slice(0, point);
  const isRepeated = whole.includes(sign);
  const isThousand = digits.length - point === 4 && (isRepeated || !/[.,]/.test(whole)) && !/^-?0$/.test(whole);
  const plain = whole.replaceAll(/[.,]/g, '');
  return Number(isThousand ? plain + digits.slice(point + 1) : `${plain}.${digits.slice(point + 1)}`);
}
