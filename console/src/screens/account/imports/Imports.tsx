import { FolderInput } from 'lucide-react';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Section } from '../../../ui/page.tsx';
import { ChatImportsChangedDocument, ChatImportsDocument } from './documents.ts';
import { ImportForm } from './ImportForm.tsx';
import { ImportRow } from './ImportRow.tsx';

/** Chats that the reader brings from another product, and what became of each file. */
export function Imports() {
  const { t } = useText();
  const { viewer } = useSession();
  const { error, isLoading, reload, pages, isEmpty } = useList(ChatImportsDocument, {}, (data) => data.chatImports);
  useLiveReload(ChatImportsChangedDocument, {}, reload);
  const mayWrite = viewer.role !== 'AUDITOR';
  return (
    <PeoplePage
      title={t('Import chats')}
      lead={t('Bring your chats from ChatGPT, Claude, LibreChat or Open WebUI, and go on with them here.')}
    >
      {mayWrite ? <ImportForm onBegun={reload} /> : null}
      <Section title={t('Your imports')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton lines={4} /> : null}
        {isEmpty ? (
          <EmptyState icon={<FolderInput size={26} aria-hidden />} title={t('Nothing was imported yet')}>
            {t('Each file that you import stands here, with what it brought and what was left out. It can be undone.')}
          </EmptyState>
        ) : (
          <ul className={styles.rows}>
            {pages.nodes.map((chatImport) => (
              <ImportRow key={chatImport.id} chatImport={chatImport} mayWrite={mayWrite} onChanged={reload} />
            ))}
          </ul>
        )}
        <ShowMore pages={pages} />
      </Section>
    </PeoplePage>
  );
}
