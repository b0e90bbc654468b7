import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { Card } from '../../../../ui/page.tsx';
import { Time } from '../../../../ui/small.tsx';
import type { EditorAgent } from '../section.ts';
import { type CanaryKeep, EndCanaryDocument } from './documents.ts';
import { SidesTable, useVersionFigures } from './VersionFigures.tsx';
import styles from './versions.module.css';

interface Props {
  readonly agent: EditorAgent;
  readonly startedAt: string | undefined;
  readonly currency: string;
  readonly isReadOnly: boolean;
  readonly onChangeShare: () => void;
  readonly onChange: () => void;
}

/** A canary that goes on: both sides beside each other, and how it ends. */
export function CanaryCard({ agent, startedAt, currency, isReadOnly, onChangeShare, onChange }: Props) {
  const { t } = useText();
  const toast = useToast();
  const confirm = useConfirm();
  const end = useMutate(EndCanaryDocument);
  const figures = useVersionFigures(agent.id, startedAt);
  const { canary, publishedVersion } = agent;
  if (canary === null) return null;
  const finish = async (keep: CanaryKeep) => {
    const version = keep === 'CANARY' ? canary.version : publishedVersion;
    const isConfirmed = await confirm({
      title: t('Give everybody version {version}?', { version }),
      body: t('The canary ends. Answers that are being given end as they began.'),
      action: t('Give it to everybody'),
    });
    if (!isConfirmed) return;
    const reply = await end.run({ id: agent.id, keep });
    if (reply === undefined) return;
    toast(t('Everybody gets version {version}.', { version }));
    onChange();
  };
  return (
    <Card>
      <h3>{t('{percent} % of the chats get version {version}', canary)}</h3>
      <p className={styles.quiet}>
        {t('The others get version {version}.', { version: publishedVersion })}{' '}
        {startedAt === undefined ? null : (
          <>
            {t('Begun:')} <Time at={startedAt} />
          </>
        )}
      </p>
      <ErrorNote error={figures.error} onRetry={figures.reload} />
      <SidesTable
        label={t('Both versions since the canary began')}
        versions={[publishedVersion, canary.version]}
        agent={agent}
        figures={figures.byVersion}
        currency={currency}
      />
      {isReadOnly ? null : (
        <div className={styles.acts}>
          <Button size="small" onClick={onChangeShare}>
            {t('Change the share')}
          </Button>
          <Button size="small" isBusy={end.isBusy} onClick={() => void finish('CANARY')}>
            {t('Everybody gets version {version}', { version: canary.version })}
          </Button>
          <Button size="small" isBusy={end.isBusy} onClick={() => void finish('PUBLISHED')}>
            {t('Everybody keeps version {version}', { version: publishedVersion })}
          </Button>
        </div>
      )}
      <ErrorNote error={end.error} />
    </Card>
  );
}
