import { useEffect } from 'react';
import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import people from '../../../../parts/people/people.module.css';
import { useSession } from '../../../../parts/session/session.tsx';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { Switch } from '../../../../ui/form/field.tsx';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { Card, Section } from '../../../../ui/page.tsx';
import { useDelayed } from '../../../../ui/use-delayed.ts';
import { ChangeSourceDocument, type UpdateDataSourceInput } from '../../documents.ts';
import type { Source } from '../source.ts';
import { SourcePermissionsDocument } from './documents.ts';
import { PermissionFacts } from './PermissionFacts.tsx';
import { PermissionNote } from './PermissionNote.tsx';
import { PushNote } from './PushNote.tsx';
import { SeenByPerson } from './SeenByPerson.tsx';

/** Whose rights decide what is found in a source, what is known of them, and what a person can see. */
export function Permissions({ source, onChanged }: { readonly source: Source; readonly onChanged: () => void }) {
  const { t } = useText();
  const { isAdmin, may } = useSession();
  const change = useMutate(ChangeSourceDocument);
  const say = useToast();
  const isMirrored = source.access === 'MIRRORED';
  const send = async (input: UpdateDataSourceInput) => {
    if ((await change.run({ id: source.id, input })) === undefined) return;
    say(t('Saved'));
    onChanged();
  };
  const askForAccess = useAccessChange(source, send);
  return (
    <>
      <ErrorNote error={change.error} />
      <Section
        title={isMirrored ? t('Each person finds what that person may open there') : t('Everybody finds all of it')}
        lead={
          isMirrored
            ? t('The rights of the source decide. What is not known to be open to somebody is not found.')
            : t('Whoever may use one of its agents is answered from every document of it.')
        }
        actions={
          <Button isBusy={change.isBusy} onClick={() => void askForAccess()}>
            {isMirrored ? t('Open it to everybody') : t('Mirror its permissions')}
          </Button>
        }
      >
        {isMirrored ? <Mirrored source={source} onSend={(input) => void send(input)} /> : null}
      </Section>
      {isMirrored && source.type === 'API' ? <PushNote sourceId={source.id} /> : null}
      {isMirrored && isAdmin && may('ADMIN_READ') ? <SeenByPerson sourceId={source.id} /> : null}
    </>
  );
}

/** Changes the access after a dialog that says what is hidden, or shown, at once. */
function useAccessChange({ name, type, access, statistics }: Source, send: (input: UpdateDataSourceInput) => Promise<void>) {
  const { t } = useText();
  const confirm = useConfirm();
  const count = statistics.totalCount;
  return async () => {
    if (access === 'MIRRORED') {
      const isConfirmed = await confirm({
        title: t('Open "{name}" to everybody?', { name }),
        body: t(
          '{count, plural, one {# document is} other {# documents are}} found at once by everybody who may use one of its agents, also by those who may not open them at the source.',
          { count },
        ),
        action: t('Open it to everybody'),
        isDanger: true,
      });
      if (isConfirmed) await send({ access: 'LENT' });
      return;
    }
    const hidden = t(
      '{count, plural, one {# document is} other {# documents are}} hidden from everybody at once, until it is known who may open them.',
      { count },
    );
    const next =
      type === 'API'
        ? t('A program says who may open each: it pushes the documents with their permissions.')
        : t('Permissions are read from the source, without reading a document again. This page shows how far that is.');
    const isConfirmed = await confirm({
      title: t('Mirror the permissions of "{name}"?', { name }),
      body: (
        <div className={people.stack}>
          <p>{hidden}</p>
          <p>{next}</p>
        </div>
      ),
      action: t('Mirror its permissions'),
    });
    if (isConfirmed) await send({ access: 'MIRRORED' });
  };
}

function Mirrored({ source, onSend }: { readonly source: Source; readonly onSend: (input: UpdateDataSourceInput) => void }) {
  const { t } = useText();
  const { id, type, linkShared, recheck, permissionReading: reading } = source;
  const { data, error, reload } = usePage(SourcePermissionsDocument, { id });
  // What is counted is asked for again while a reading goes on, at most once in a moment.
  const news = useDelayed([reading?.readAt, reading?.failedAt, reading?.itemCount, reading?.isRunning].join(' '));
  // biome-ignore lint/correctness/useExhaustiveDependencies: news is the reason to load it again
  useEffect(() => {
    if (data !== undefined) reload();
  }, [news]);
  const report = data?.dataSource?.permissions ?? undefined;
  return (
    <>
      <PermissionNote source={source} />
      <ErrorNote error={error} onRetry={reload} />
      {report === undefined && error === undefined ? <Skeleton lines={6} /> : null}
      {report === undefined ? null : <PermissionFacts report={report} source={source} />}
      <Card>
        <Switch
          label={t('What is shared by a link is found')}
          hint={t('Otherwise "anyone with the link" opens nothing for those who never had the link.')}
          isOn={linkShared === 'FINDABLE'}
          onChange={(isOn) => onSend({ linkShared: isOn ? 'FINDABLE' : 'HIDDEN' })}
        />
        {type === 'API' ? null : (
          <Switch
            label={t('The source is asked once more before each answer')}
            hint={t('It takes up to a second. What the source does not say to be open then is not given to a model.')}
            isOn={recheck === 'ON_ANSWER'}
            onChange={(isOn) => onSend({ recheck: isOn ? 'ON_ANSWER' : 'NEVER' })}
          />
        )}
      </Card>
    </>
  );
}
