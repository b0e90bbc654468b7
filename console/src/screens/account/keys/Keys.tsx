import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Table } from '../../../ui/page.tsx';
import { type CreateKeyMutation, type KeyRowFragment, KeysChangedDocument, KeysDocument } from './documents.ts';
import { KeyForm } from './KeyForm.tsx';
import { KeyRow } from './KeyRow.tsx';
import { KeySecret } from './KeySecret.tsx';

/** The keys of the reader or, for administrators, of everybody. */
export function Keys({ isOfAll }: { readonly isOfAll: boolean }) {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [, go] = useLocation();
  // Auditors have the scope to set their password, and make no keys.
  const mayMake = !isOfAll && may('API_KEYS_WRITE') && viewer.role !== 'AUDITOR';
  const isMaking = new URLSearchParams(useSearch()).has('new') && mayMake;
  const [made, setMade] = useState<CreateKeyMutation['createApiKey']>();
  const variables = { orgId: isOfAll ? viewer.organization.id : null };
  const { error, isLoading, reload, pages, isEmpty } = useList(KeysDocument, variables, (data) => data.apiKeys);
  useLiveReload(KeysChangedDocument, { ofOrganization: isOfAll }, reload);
  const make = mayMake ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => go('/account/keys?new')}>
      {t('New key')}
    </Button>
  ) : undefined;
  const close = () => go('/account/keys', { replace: true });
  return (
    <PeoplePage
      title={t('Keys')}
      lead={
        isOfAll
          ? t('The keys of everybody here. Each makes new ones under “Your account”.')
          : t('Programs use Parley by a key: your own code, OpenAI clients, tools.')
      }
      actions={isEmpty ? undefined : make}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<KeyRound size={26} aria-hidden />} title={t('No keys yet')} action={make}>
          {t('With a key, any client of the OpenAI API talks to your agents: set its base address and the key.')}
        </EmptyState>
      ) : null}
      {pages.nodes.length === 0 ? null : <KeyTable keys={pages.nodes} isOwnerShown={isOfAll} onChanged={reload} />}
      <ShowMore pages={pages} />
      {isMaking ? (
        <KeyForm
          onClose={close}
          onMade={(key) => {
            setMade(key);
            close();
          }}
        />
      ) : null}
      {made === undefined ? null : (
        <KeySecret
          name={made.apiKey.name}
          secret={made.secret}
          isForPrograms={!made.apiKey.scopes.includes('SCIM_WRITE')}
          onClose={() => setMade(undefined)}
        />
      )}
    </PeoplePage>
  );
}

function KeyTable({
  keys,
  isOwnerShown,
  onChanged,
}: {
  readonly keys: readonly KeyRowFragment[];
  readonly isOwnerShown: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  return (
    <Table label={t('Keys')}>
      <thead>
        <tr>
          <th scope="col">{t('Key')}</th>
          <th scope="col">{t('Allowed')}</th>
          {isOwnerShown ? <th scope="col">{t('Owner')}</th> : null}
          <th scope="col">{t('Last used')}</th>
          <th scope="col">{t('Ends')}</th>
          <th scope="col">
            <span className="visually-hidden">{t('What can be done')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <KeyRow key={key.id} apiKey={key} isOwnerShown={isOwnerShown} onChanged={onChanged} />
        ))}
      </tbody>
    </Table>
  );
}
