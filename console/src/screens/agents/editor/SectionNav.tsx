import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useText } from '../../../text/text.ts';
import styles from './editor.module.css';
import type { SectionName } from './section.ts';
import type { sectionsFor } from './sections.tsx';

interface Props {
  readonly agentId: string;
  readonly sections: ReturnType<typeof sectionsFor>;
  readonly current: SectionName;
}

/** The sections of the editor: beside them where there is room, else above them in a row that scrolls. */
export function SectionNav({ agentId, sections, current }: Props) {
  const { t } = useText();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const row = nav.current;
    const link = row?.querySelector<HTMLElement>(`[href$="/${current}"]`);
    // The page itself stays where it is.
    if (row != null && link != null) row.scrollTo({ left: link.offsetLeft - (row.clientWidth - link.clientWidth) / 2 });
  }, [current]);
  return (
    <nav ref={nav} className={styles.sections} aria-label={t('Sections')}>
      {sections.map(({ name, label, count }) => (
        <Link key={name} href={`/agents/${agentId}/${name}`} aria-current={name === current ? 'page' : undefined}>
          {label}
          {count === undefined || count === 0 ? null : <span>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
