import { useText } from '../../../../text/text.ts';
import type { ExperimentRowFragment } from './documents.ts';
import styles from './scorers/scorers.module.css';
import { scorerName } from './scorers/values.ts';

/** How the answers of an experiment were scored, with what judges are told. */
export function Scoring({ experiment: { scorers, seed } }: { readonly experiment: ExperimentRowFragment }) {
  const { t } = useText();
  const prompts = [...new Set(scorers.flatMap(({ prompt }) => prompt ?? []))];
  return (
    <details>
      <summary>{t('How answers are scored')}</summary>
      <ul className={styles.scoring}>
        {scorers.map(({ kind, pattern, schema, tolerance, max, modelId, rubric }, index) => {
          const settings = [modelId, rubric, pattern, schema, tolerance, max].filter((value) => value !== null);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: scorers have no ids of their own, and never change
            <li key={index}>
              {settings.length === 0
                ? scorerName(t, kind)
                : t('{field}: {fault}', { field: scorerName(t, kind), fault: settings.join(' · ') })}
            </li>
          );
        })}
      </ul>
      <p>{t('Seed of the drawings: {seed}', { seed: String(seed) })}</p>
      {prompts.map((prompt) => (
        <div key={prompt}>
          <p>{t('What a judge is told')}</p>
          <pre className={styles.prompt}>{prompt}</pre>
        </div>
      ))}
    </details>
  );
}
