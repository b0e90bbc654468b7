import type { RunDetail } from '../run/steps.ts';

/** How much more or less the second value is, as people read it: `+1.2 s (+40 %)`; '' where there is nothing to say. */
export function describeDifference(
  [one, other]: readonly [number | undefined, number | undefined],
  format: (value: number) => string,
  number: (value: number, options?: Intl.NumberFormatOptions) => string,
): string {
  if (one === undefined || other === undefined || one === other) return '';
  const sign = other > one ? '+' : '−';
  const amount = `${sign}${format(Math.abs(other - one))}`;
  if (one === 0) return amount;
  const share = number(Math.abs(other - one) / one, { style: 'percent', maximumFractionDigits: 0 });
  return `${amount} (${sign}${share})`;
}

/** How often a run called each tool, in the order of the first calls. */
export function countTools({ steps }: RunDetail): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const step of steps) {
    if (step.__typename === 'ToolCallStep') counts.set(step.name, (counts.get(step.name) ?? 0) + 1);
  }
  return counts;
}

/** What a run was asked, as far as the reader may read it. */
export function readQuestion({ messages }: RunDetail): string | undefined {
  const texts = messages.flatMap(({ role, content }) => (role === 'USER' && content !== '' ? [content] : []));
  return texts.length === 0 ? undefined : texts.join('\n\n');
}
