import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Switch } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import {
  DeleteWebhookDocument,
  RedeliverDocument,
  RotateSecretDocument,
  SwitchWebhookDocument,
  TestWebhookDocument,
  type WebhookRowFragment,
} from './documents.ts';
import { eventWords } from './WebhookForm.tsx';

/** A webhook with its last deliveries. */
export function WebhookCard({
  webhook: { id, url, description, events, isEnabled, disabledReason, deliveries },
  onChanged,
  onSecret,
}: {
  readonly webhook: WebhookRowFragment;
  readonly onChanged: () => void;
  readonly onSecret: (secret: string) => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const onOff = useMutate(SwitchWebhookDocument);
  const rotate = useMutate(RotateSecretDocument);
  const test = useMutate(TestWebhookDocument);
  const remove = useMutate(DeleteWebhookDocument);
  const error = onOff.error ?? rotate.error ?? test.error ?? remove.error;
  const after = (result: unknown) => result !== undefined && onChanged();
  const onRotate = async () => {
    const isConfirmed = await confirm({
      title: t('Replace the secret?'),
      body: t('Requests are signed with the new one from now on. Give it to the receiver at once.'),
      action: t('Replace the secret'),
    });
    if (!isConfirmed) return;
    const result = await rotate.run({ id });
    if (result !== undefined) onSecret(result.rotateWebhookSecret.secret);
  };
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete the webhook?'),
      body: t('Nothing is sent to {url} any more.', { url }),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed) after(await remove.run({ id }));
  };
  return (
    <Card>
      <div className={styles.spread}>
        <div className={styles.grow}>
          <strong>{url}</strong>
          <p className={styles.quiet}>{description}</p>
        </div>
        {may('ADMIN_WRITE') ? (
          <Switch
            label={t('On')}
            isOn={isEnabled}
            disabled={onOff.isBusy}
            onChange={(isOn) => void onOff.run({ id, isEnabled: isOn }).then(after)}
          />
        ) : null}
      </div>
      <div className={styles.chips}>
        {events.map((event) => (
          <Badge key={event}>{eventWords(t)[event]}</Badge>
        ))}
      </div>
      {disabledReason === null ? null : <Note tone="warn">{disabledReason}</Note>}
      {deliveries.nodes.length === 0 ? null : (
        <ul className={styles.rows} aria-label={t('Last deliveries')}>
          {deliveries.nodes.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} onChanged={onChanged} />
          ))}
        </ul>
      )}
      <ErrorNote error={error} />
      {may('ADMIN_WRITE') ? (
        <Acts
          test={{ isBusy: test.isBusy, onClick: () => void test.run({ id }).then(after) }}
          rotate={{ isBusy: rotate.isBusy, onClick: () => void onRotate() }}
          remove={{ isBusy: remove.isBusy, onClick: () => void onDelete() }}
        />
      ) : null}
    </Card>
  );
}

interface Act {
  readonly isBusy: boolean;
  readonly onClick: () => void;
}

function Acts({ test, rotate, remove }: { readonly test: Act; readonly rotate: Act; readonly remove: Act }) {
  const { t } = useText();
  return (
    <div className={styles.chips}>
      <Button size="small" {...test}>
        {t('Send a test')}
      </Button>
      <Button size="small" {...rotate}>
        {t('Replace the secret')}
      </Button>
      <Button size="small" variant="danger" {...remove}>
        {t('Delete')}
      </Button>
    </div>
  );
}

function Delivery({
  delivery: { id, event, status, attempts, createdAt, lastAnswer },
  onChanged,
}: {
  readonly delivery: WebhookRowFragment['deliveries']['nodes'][number];
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const { run, isBusy, error } = useMutate(RedeliverDocument);
  const words = { DELIVERED: t('Delivered'), FAILED: t('Failed'), PENDING: t('Waiting') };
  const tones = { DELIVERED: 'good', FAILED: 'bad', PENDING: 'neutral' } as const;
  const again = async () => {
    if ((await run({ deliveryId: id })) !== undefined) onChanged();
  };
  return (
    <li>
      <span className={styles.grow}>
        <Badge tone={tones[status]}>{words[status]}</Badge> {event.replaceAll('.', ' ')}
        <span className={styles.block}>
          <Time at={createdAt} /> · {t('{count, plural, one {# attempt} other {# attempts}}', { count: attempts })}
          {lastAnswer?.status == null ? '' : ` · ${t('answered with {status}', { status: lastAnswer.status })}`}
          {lastAnswer?.error == null ? '' : ` · ${lastAnswer.error}`}
        </span>
        <ErrorNote error={error} />
      </span>
      {status !== 'PENDING' && may('ADMIN_WRITE') ? (
        <Button size="small" isBusy={isBusy} onClick={() => void again()}>
          {t('Send again')}
        </Button>
      ) : null}
    </li>
  );
}
