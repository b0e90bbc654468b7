import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { useList } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import { usePolling } from '../../../parts/people/polling.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, Note, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { WebhooksDocument } from './documents.ts';
import { WebhookCard } from './WebhookCard.tsx';
import { WebhookForm } from './WebhookForm.tsx';

/** Addresses that are told what happens in the organization. */
export function Webhooks() {
  const { t } = useText();
  const { may } = useSession();
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { error, isLoading, reload, pages, isEmpty } = useList(WebhooksDocument, {}, (data) => data.webhooks);
  usePolling(
    pages.nodes.some(({ deliveries }) => deliveries.nodes.some(({ status }) => status === 'PENDING')),
    reload,
  );
  const make = may('ADMIN_WRITE') ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setMaking(true)}>
      {t('New webhook')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Webhooks')}
      lead={t('Other programs are told when something happens here.')}
      actions={isEmpty ? undefined : make}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<WebhookIcon size={26} aria-hidden />} title={t('No webhooks yet')} action={make}>
          {t('A webhook sends a signed request to an address of yours when a run ends, a source fails or a limit is near.')}
        </EmptyState>
      ) : null}
      {pages.nodes.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} onChanged={reload} onSecret={setSecret} />
      ))}
      <ShowMore pages={pages} />
      {isMaking ? (
        <WebhookForm
          onClose={() => setMaking(false)}
          onMade={(webhook) => {
            setSecret(webhook);
            setMaking(false);
            reload();
          }}
        />
      ) : null}
      <Dialog title={t('Secret of the webhook')} isOpen={secret !== undefined} onClose={() => setSecret(undefined)}>
        <Note tone="warn">{t('Copy the secret now: it is not shown again.')}</Note>
        <CodeBox text={secret ?? ''} label={t('Secret of the webhook')} />
        <p>{t('Your program checks with it that a request comes from here, as Standard Webhooks say.')}</p>
      </Dialog>
    </PeoplePage>
  );
}
