import { useState } from 'react';
import { Link } from 'wouter';
import { useText } from '../../../../text/text.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import type { EditorAgent } from '../section.ts';
import { PublishDialog } from './PublishDialog.tsx';
import styles from './versions.module.css';
import { draftName } from './words.ts';

/** Above the sections, as long as people do not get what the editor shows. */
export function DraftNote({
  agent,
  isDirty,
  onChange,
}: {
  readonly agent: EditorAgent;
  /** Whether the editor holds what is not saved: the draft is not yet what the editor shows. */
  readonly isDirty: boolean;
  readonly onChange: () => void;
}) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  const { draft, publishedVersion } = agent;
  if (draft?.isChanged !== true) return null;
  return (
    <>
      <Note
        tone="accent"
        action={
          <Button size="small" variant="primary" disabled={isDirty} onClick={() => setOpen(true)}>
            {t('Publish')}
          </Button>
        }
      >
        <p>
          {t('Draft, not published: people get version {version}.', { version: publishedVersion })}{' '}
          <Link className={styles.noteLink} href={`/agents/${agent.id}/versions/${publishedVersion}...${draftName}`}>
            {t('What changes')}
          </Link>
        </p>
        {isDirty ? <p>{t('Save first: what is not saved is not published.')}</p> : null}
      </Note>
      {isOpen ? (
        <PublishDialog
          agent={agent}
          revision={draft.revision}
          onClose={() => setOpen(false)}
          onPublished={() => {
            setOpen(false);
            onChange();
          }}
        />
      ) : null}
    </>
  );
}
