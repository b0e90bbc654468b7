import type { Budget, BudgetPeriod, BudgetSpan } from '../../entities/operations/budget.ts';
import { addDays, startOfDay, startOfNextMonth, toLocalDay } from '../../lib/time-zone.ts';

interface Span extends Omit<BudgetSpan, 'counter'> {
  /** `2026-01-31` or `2026-01`. */
  readonly name: string;
}

/** The day or month of budgets at a moment. Keeps those that it found: asked again within one, it costs nothing. */
export class BudgetSpans {
  readonly #spans = new Map<string, Span>();

  find({ id, period }: Pick<Budget, 'id' | 'period'>, timeZone: string, at: Date): BudgetSpan {
    const key = `${period} ${timeZone}`;
    let span = this.#spans.get(key);
    if (span === undefined || at < span.startsAt || at >= span.endsAt) {
      span = findSpan(period, timeZone, at);
      this.#spans.set(key, span);
    }
    return { counter: `${id} ${span.name}`, startsAt: span.startsAt, endsAt: span.endsAt };
  }
}

function findSpan(period: BudgetPeriod, timeZone: string, at: Date): Span {
  const day = toLocalDay(at.getTime(), timeZone);
  const [first, next] = period === 'DAY' ? [day, addDays(day, 1)] : [`${day.slice(0, 7)}-01`, startOfNextMonth(day)];
  return {
    name: period === 'DAY' ? day : day.slice(0, 7),
    startsAt: new Date(startOfDay(first, timeZone)),
    endsAt: new Date(startOfDay(next, timeZone)),
  };
}
