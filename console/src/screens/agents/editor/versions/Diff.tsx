import { useText } from '../../../../text/text.ts';
import { Badge } from '../../../../ui/feedback.tsx';
import type { AgentVersionDiffQuery } from './documents.ts';
import styles from './versions.module.css';
import { memberLabel } from './words.ts';

export type Change = AgentVersionDiffQuery['agentVersionDiff'][number];

const signs = { SAME: ' ', ADDED: '+', REMOVED: '−' } as const;
const lineTags = { SAME: 'span', ADDED: 'ins', REMOVED: 'del' } as const;
const tones = { ADDED: 'good', REMOVED: 'bad', CHANGED: 'neutral' } as const;

export interface DiffLine {
  readonly kind: keyof typeof signs;
  readonly text: string;
}

/** Lines of two texts. */
export function Lines({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <div className={styles.lines}>
      <LineList lines={lines} />
    </div>
  );
}

function LineList({ lines }: { readonly lines: readonly DiffLine[] }) {
  return lines.map((line, place) => {
    const Line = lineTags[line.kind];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a difference never change
      <Line key={place} className={styles.line} data-kind={line.kind}>
        <span className={styles.sign}>{signs[line.kind]}</span>
        <span>{line.text}</span>
      </Line>
    );
  });
}

/** What differs between two versions, member by member: lines with a sign and a color. */
export function Diff({ changes }: { readonly changes: readonly Change[] }) {
  const { t } = useText();
  const kindWords = { ADDED: t('Added'), REMOVED: t('Removed'), CHANGED: t('Changed') };
  if (changes.length === 0) return <p className={styles.quiet}>{t('Nothing differs.')}</p>;
  return (
    <ul className={styles.changes} aria-label={t('What differs')}>
      {changes.map(({ member, kind, hunks }) => (
        <li key={member} className={styles.change}>
          <h3 className={styles.member}>
            {memberLabel(t, member)} <Badge tone={tones[kind]}>{kindWords[kind]}</Badge>
          </h3>
          {hunks.map(({ fromLine, toLine, lines }, index) => (
            <div key={`${fromLine} ${toLine}`} className={styles.lines}>
              {index === 0 && fromLine <= 1 ? null : (
                <p className={styles.place}>{t('Line {line}', { line: Math.max(fromLine, toLine) })}</p>
              )}
              <LineList lines={lines} />
            </div>
          ))}
        </li>
      ))}
    </ul>
  );
}
