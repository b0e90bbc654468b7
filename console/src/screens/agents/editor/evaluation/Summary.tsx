import { useText } from '../../../../text/text.ts';
import { formatCost } from '../../../../ui/cost.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { Table } from '../../../../ui/page.tsx';
import { formatMs } from '../../../../ui/small.tsx';
import type { ExperimentRowFragment } from './documents.ts';
import { describeComparison, formatRate, variantTitle } from './words.ts';

const tones = { BETTER: 'good', WORSE: 'bad', SAME: 'neutral', NOT_ENOUGH_CASES: 'neutral' } as const;

/** What an experiment says: in a sentence for each comparison, and in numbers for each variant. */
export function Summary({ experiment, currency }: { readonly experiment: ExperimentRowFragment; readonly currency: string }) {
  const { t, number } = useText();
  const { summary, variants } = experiment;
  if (summary === null) return null;
  const range = (interval: { readonly low: number; readonly high: number } | null) =>
    interval === null
      ? '–'
      : t('{low} to {high}', { low: formatRate(interval.low, number), high: formatRate(interval.high, number) });
  return (
    <>
      {summary.comparisons.map((comparison) => {
        const variant = variants[comparison.variant];
        return (
          <Note key={comparison.variant} tone={tones[comparison.verdict]}>
            <p>
              {variant === undefined || summary.comparisons.length === 1 ? null : `${variantTitle(t, variant)}: `}
              {describeComparison(t, comparison)}
            </p>
            {comparison.interval === null || comparison.difference === null ? null : (
              <p>
                {t('The rate of passed cases differs by {difference}; in 95 of 100 drawings of the cases by {range}.', {
                  difference: formatRate(comparison.difference, number),
                  range: range(comparison.interval),
                })}
              </p>
            )}
            {comparison.costRatio === null ? null : (
              <p>{t('It costs {ratio} times as much.', { ratio: number(comparison.costRatio, { maximumFractionDigits: 2 }) })}</p>
            )}
          </Note>
        );
      })}
      <Table label={t('Result')}>
        <thead>
          <tr>
            <th scope="col">{t('Version')}</th>
            <th scope="col">{t('Passed')}</th>
            <th scope="col">{t('In 95 of 100 drawings')}</th>
            <th scope="col">{t('Cases')}</th>
            <th scope="col">{t('Without an answer')}</th>
            <th scope="col">{t('Cost')}</th>
            <th scope="col">{t('Half within')}</th>
          </tr>
        </thead>
        <tbody>
          {summary.variants.map((one) => {
            const variant = variants[one.variant];
            return (
              <tr key={one.variant}>
                <th scope="row">{variant === undefined ? '' : variantTitle(t, variant)}</th>
                <td>{one.rate === null ? '–' : formatRate(one.rate, number)}</td>
                <td>{range(one.interval)}</td>
                <td>{number(one.caseCount)}</td>
                <td>{number(one.failedCount)}</td>
                <td>{one.cost === 0 ? '–' : formatCost(one.cost, currency, number)}</td>
                <td>{one.medianMs === null ? '–' : formatMs(one.medianMs, number)}</td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </>
  );
}
