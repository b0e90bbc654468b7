import { type Text, useText } from '../../../../text/text.ts';
import { Badge } from '../../../../ui/feedback.tsx';
import styles from '../versions/versions.module.css';
import type { ExperimentPairRowFragment, ExperimentRowFragment } from './documents.ts';
import own from './pairs.module.css';
import { variantTitle } from './words.ts';

const tones = { BETTER: 'good', WORSE: 'bad', SAME: 'neutral' } as const;

/** Each case with the answers of two variants beside each other, on a phone below each other. */
export function Pairs({
  variants,
  compared,
  pairs,
}: {
  readonly variants: ExperimentRowFragment['variants'];
  /** The place of the variant that stands beside the first. */
  readonly compared: number;
  readonly pairs: readonly ExperimentPairRowFragment[];
}) {
  const { t } = useText();
  const words = { BETTER: t('Better'), WORSE: t('Worse'), SAME: t('The same') };
  if (pairs.length === 0) return <p className={styles.quiet}>{t('No such case.')}</p>;
  return (
    <ul className={styles.changes} aria-label={t('Cases')}>
      {pairs.map(({ caseId, question, verdict, tags, mustContain, expected, results }) => (
        <li key={caseId} className={styles.change}>
          <h3 className={styles.member}>
            <span>{question}</span>
            {verdict === null ? null : <Badge tone={tones[verdict]}>{words[verdict]}</Badge>}
            {tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </h3>
          {mustContain.length === 0 ? null : (
            <p className={own.wanted}>{t('Says: {facts}', { facts: mustContain.join(' · ') })}</p>
          )}
          {expected === null ? null : <p className={own.wanted}>{t('Good answer: {text}', { text: expected })}</p>}
          <div className={own.sides}>
            {results
              .filter(({ variant }) => variant === 0 || variant === compared)
              .map((result) => {
                const variant = variants[result.variant];
                return (
                  <div key={`${result.variant} ${result.repeat}`} className={own.side}>
                    <p className={own.who}>
                      <span>{variant === undefined ? '' : variantTitle(t, variant)}</span>
                      {result.passed === null ? null : (
                        <Badge tone={result.passed ? 'good' : 'bad'}>{result.passed ? t('✓ Passed') : t('✗ Not passed')}</Badge>
                      )}
                    </p>
                    <p className={own.answer}>{result.answer ?? result.error ?? stateWords(t, result.state)}</p>
                    {result.scores
                      .filter(({ passed }) => passed !== true)
                      .map(({ kind, note, error }) => (
                        <p key={kind} className={own.wanted}>
                          {error ?? (note === '' ? kind : note)}
                        </p>
                      ))}
                    {result.pair === null ? null : <p className={own.wanted}>{pairWords(t, result.pair)}</p>}
                  </div>
                );
              })}
          </div>
        </li>
      ))}
    </ul>
  );
}

function stateWords(t: Text['t'], state: ExperimentPairRowFragment['results'][number]['state']): string {
  return {
    PENDING: t('Not asked yet'),
    ASKED: t('Being asked'),
    DONE: t('An empty answer'),
    FAILED: t('No answer'),
    INTERRUPTED: t('Interrupted: going on asks it again'),
  }[state];
}

/** What a judge says of an answer beside that of the first variant. */
function pairWords(
  t: Text['t'],
  { choice, reason, error }: NonNullable<ExperimentPairRowFragment['results'][number]['pair']>,
): string {
  if (choice === null) return error ?? '';
  const words = {
    FIRST: t('The judge likes the first answer better: {reason}', { reason }),
    SECOND: t('The judge likes this answer better: {reason}', { reason }),
    TIE: t('The judge likes both alike: {reason}', { reason }),
    UNSTEADY: t('The judge goes by the order of the answers: this says nothing.'),
  };
  return words[choice];
}
