import { Link } from 'wouter';
import { useText } from '../../../../text/text.ts';
import styles from '../editor.module.css';
import type { SectionName } from '../section.ts';
import type { sectionsFor } from '../sections.tsx';

interface Props {
  readonly agentId: string;
  readonly sections: ReturnType<typeof sectionsFor>;
  readonly current: SectionName;
}

/** The sections of the editor: beside them where there is room, else above them. */
export function SectionNav({ agentId, sections, current }: Props) {
  const { t } = useText();
  return (
    <nav className={styles.sections} aria-label={t('Sections')}>
      {sections.map(({ name, label, count }) => (
        <Link key={name} href={`/agents/${agentId}/${name}`} aria-current={name === current ? 'page' : undefined}>
          {label}
          {count === undefined || count === 0 ? null : <span>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
