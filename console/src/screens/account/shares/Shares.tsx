import { Link as LinkIcon } from 'lucide-react';
import { useState } from 'react';
import { useList } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import { useSession } from '../../../parts/session/session.tsx';
import { ChatSharesDocument } from '../../../parts/shares/documents.ts';
import { ShareRows } from '../../../parts/shares/ShareRows.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { Toolbar } from '../../../ui/page.tsx';

/** Links to chats that the reader made; administrators see those of the organization too. */
export function Shares() {
  const { t } = useText();
  const { viewer } = useSession();
  const [ofOrganization, setOfOrganization] = useState(false);
  const { error, isLoading, reload, pages, isEmpty } = useList(ChatSharesDocument, { ofOrganization }, (data) => data.chatShares);
  return (
    <PeoplePage
      title={t('Shared chats')}
      lead={t('Links under which others read a chat. A link that was revoked opens nothing any more.')}
    >
      {viewer.role === 'MEMBER' ? null : (
        <Toolbar>
          <Select
            aria-label={t('Whose links')}
            value={ofOrganization ? 'ALL' : 'OWN'}
            onChange={({ target }) => setOfOrganization(target.value === 'ALL')}
          >
            <option value="OWN">{t('My links')}</option>
            <option value="ALL">{t('Links of everybody')}</option>
          </Select>
        </Toolbar>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={5} /> : null}
      {isEmpty ? (
        <EmptyState icon={<LinkIcon size={26} aria-hidden />} title={t('Nothing is shared')}>
          {t(
            'The head of a chat has the button “Share this chat”: it makes a link for people whom you name, or for everybody in the organization.',
          )}
        </EmptyState>
      ) : (
        <ShareRows
          shares={pages.nodes}
          showsChat
          showsUser={ofOrganization}
          mayRevoke={viewer.role !== 'AUDITOR'}
          onChanged={reload}
        />
      )}
      <ShowMore pages={pages} />
    </PeoplePage>
  );
}
