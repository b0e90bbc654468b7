import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { OwnBudgets } from '../../../parts/budgets/OwnBudgets.tsx';
import { ExportState } from '../../../parts/people/ExportState.tsx';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { usePolling } from '../../../parts/people/polling.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { chooseLanguage, type Language, languages, useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, Select } from '../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import { chooseTheme, chosenTheme, themes } from '../../../ui/theme.ts';
import { ConnectedApps } from './ConnectedApps.tsx';
import { AccountDocument, ExportOwnDocument, OwnExportsDocument, RenameUserDocument } from './documents.ts';
import { Identities } from './Identities.tsx';
import { Passkeys } from './Passkeys.tsx';
import { Password } from './Password.tsx';
import { Sessions } from './Sessions.tsx';
import { ThisBrowser } from './ThisBrowser.tsx';

/** The reader's own account. */
export function Profile() {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(AccountDocument, {});
  const viewer = data?.viewer;
  return (
    <PeoplePage title={t('Your account')} lead={viewer?.user.email}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {viewer === undefined ? null : (
        <>
          <div className={styles.split}>
            <Name id={viewer.user.id} name={viewer.user.name} onChanged={reload} />
            <Look />
          </div>
          <div className={styles.split}>
            <Password hasPassword={viewer.hasPassword} method={viewer.session?.method} onChanged={reload} />
            <Passkeys passkeys={viewer.passkeys.nodes} identities={viewer.user.identities?.nodes ?? []} onChanged={reload} />
          </div>
          <OwnBudgets />
          <Identities />
          <ThisBrowser />
          <ConnectedApps apps={viewer.connectedApps.nodes} onChanged={reload} />
          <Sessions sessions={viewer.sessions.nodes} onChanged={reload} />
          <OwnData userId={viewer.user.id} />
        </>
      )}
    </PeoplePage>
  );
}

function Name({ id, name: current, onChanged }: { readonly id: string; readonly name: string; readonly onChanged: () => void }) {
  const { t } = useText();
  const { may, reload } = useSession();
  const say = useToast();
  const [name, setName] = useState(current);
  const { run, isBusy, error } = useMutate(RenameUserDocument);
  const mayRename = may('ADMIN_WRITE');
  const save = async () => {
    if ((await run({ id, name: name.trim() })) === undefined) return;
    say(t('Your name is changed.'));
    await reload();
    onChanged();
  };
  return (
    <Section title={t('Name')}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label={t('Your name')}
          hint={mayRename ? t('As others see it.') : t('As others see it. An administrator changes it.')}
          error={findFault(error, 'name')}
          autoComplete="name"
          maxLength={200}
          value={name}
          disabled={!mayRename}
          onChange={setName}
        />
        <ErrorNote error={errorBeside(error, ['name'])} />
        {mayRename ? (
          <div>
            <Button type="submit" isBusy={isBusy} disabled={name.trim() === '' || name.trim() === current}>
              {t('Save the name')}
            </Button>
          </div>
        ) : null}
      </form>
    </Section>
  );
}

function Look() {
  const { t, language } = useText();
  const [theme, setTheme] = useState(chosenTheme());
  const words = { system: t('Colors of the device'), light: t('Light colors'), dark: t('Dark colors') };
  return (
    <Section title={t('Look')}>
      <div className={styles.form}>
        <Field label={t('Language')}>
          {(control) => (
            <Select
              {...control}
              value={language}
              onChange={(event) => void chooseLanguage(event.target.value === 'de' ? 'de' : 'en')}
            >
              {(Object.keys(languages) as Language[]).map((each) => (
                <option key={each} value={each} lang={each}>
                  {languages[each]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <SelectField
          label={t('Colors')}
          value={theme}
          onChange={(chosen) => {
            chooseTheme(chosen);
            setTheme(chosen);
          }}
          options={themes.map((each) => ({ value: each, label: words[each] }))}
        />
      </div>
    </Section>
  );
}

function OwnData({ userId }: { readonly userId: string }) {
  const { t } = useText();
  const { viewer } = useSession();
  const { data, error, reload } = usePage(OwnExportsDocument, {});
  const begin = useMutate(ExportOwnDocument);
  const dataExport = data?.dataExports.nodes.find((each) => each.userId === userId);
  const isWorking = dataExport?.status === 'PENDING' || dataExport?.status === 'RUNNING';
  usePolling(isWorking, reload);
  const onBegin = async () => {
    if ((await begin.run({})) !== undefined) reload();
  };
  return (
    <Section title={t('Your data')} lead={t('A ZIP with your chats, files, memories and everything else that you have here.')}>
      <ErrorNote error={error ?? begin.error} />
      {dataExport === undefined ? null : <ExportState state={dataExport} />}
      {viewer.role === 'AUDITOR' ? null : (
        <div>
          <ButtonLink href="/account/imports">{t('Import chats')}</ButtonLink>
        </div>
      )}
      {isWorking || viewer.role === 'AUDITOR' ? null : (
        <div>
          <Button isBusy={begin.isBusy} onClick={() => void onBegin()}>
            {dataExport === undefined ? t('Export your data') : t('Export again')}
          </Button>
        </div>
      )}
    </Section>
  );
}
