import { Plug } from 'lucide-react';
import { useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Checkbox } from '../../../ui/form/field.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { type AddDataSourceInput, ConnectionChoiceDocument, type RefreshPeriod, type SourceAccess } from '../documents.ts';
import { accountForms, type ConnectableProvider, type Entry } from '../kinds.ts';
import { useWords } from '../words.ts';
import { AccessChoice } from './AccessChoice.tsx';
import type { AddFormProps } from './AddForm.tsx';
import { AddForm, PeriodField, useAddSource } from './AddForm.tsx';
import { useAgentChoice } from './AgentPicker.tsx';
import styles from './add.module.css';
import { useConnecting } from './connecting.ts';
import { EntryBrowser } from './EntryBrowser.tsx';

const providers = Object.keys(accountForms) as ConnectableProvider[];

/** Adds what the reader has in another service: connects an account first, then chooses in it. */
export function ConnectedForm({ agentId, onClose }: AddFormProps) {
  const { t } = useText();
  const { nameKind } = useWords();
  const [provider, setProvider] = useState<ConnectableProvider>('DRIVE_A');
  const [connectionId, setConnectionId] = useState<string>();
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [isAll, setAll] = useState(false);
  const [refreshPeriod, setRefreshPeriod] = useState<RefreshPeriod>('DAILY');
  const [access, setAccess] = useState<SourceAccess>('MIRRORED');
  const { data, error: loadError, reload } = usePage(ConnectionChoiceDocument, {});
  const connecting = useConnecting((connection) => {
    reload();
    if (connection.provider === provider) setConnectionId(connection.id);
  });
  const { picker, agent, isReady } = useAgentChoice(agentId, false);
  const { addSource, isBusy, error } = useAddSource(onClose);
  const own = (data?.connections.nodes ?? []).filter((connection) => connection.provider === provider);
  const current = own.find(({ id }) => id === connectionId) ?? own[0];
  const { isMany, whole, toInput } = accountForms[provider];
  const chosenWhole = isAll ? whole : undefined;
  const findInput = (): AddDataSourceInput | undefined => {
    const [first] = entries;
    if (current === undefined) return undefined;
    const common = { connectionId: current.id, refreshPeriod, access };
    if (chosenWhole !== undefined) return chosenWhole.toInput(common, current.accountName);
    return first === undefined ? undefined : toInput(common, first, entries);
  };
  const input = findInput();
  return (
    <AddForm
      error={error}
      isBusy={isBusy}
      isReady={input !== undefined && isReady}
      onSubmit={() => input !== undefined && void addSource(agent, input)}
      onClose={onClose}
    >
      <div className={styles.pair}>
        <ServiceField
          value={provider}
          onChange={(next) => {
            setProvider(next);
            setEntries([]);
          }}
        />
        {own.length > 0 ? <AccountField accounts={own} value={current?.id} onChange={setConnectionId} /> : null}
        <Button icon={<Plug size={16} aria-hidden />} isBusy={connecting.isOpen} onClick={() => void connecting.begin(provider)}>
          {own.length > 0 ? t('Connect another account') : t('Connect {service}', { service: nameKind(provider) })}
        </Button>
      </div>
      <ErrorNote error={connecting.error ?? loadError} />
      {connecting.isOpen ? <Note>{t('Allow the access in the window that opened. It closes by itself.')}</Note> : null}
      {data === undefined && loadError === undefined ? <Skeleton lines={2} /> : null}
      {current?.needsReauthorization === true ? (
        <Note tone="warn">{t('The service refuses this account: connect it again.')}</Note>
      ) : null}
      {current === undefined ? null : (
        <>
          {whole === undefined ? null : (
            <Checkbox label={whole.label(t)} checked={isAll} onChange={({ target }) => setAll(target.checked)} />
          )}
          {chosenWhole === undefined ? (
            <EntryBrowser
              key={current.id}
              connectionId={current.id}
              chosen={entries}
              isMany={isMany === true}
              onChange={setEntries}
            />
          ) : null}
          <AccessChoice value={access} onChange={setAccess} />
          <PeriodField value={refreshPeriod} onChange={setRefreshPeriod} />
        </>
      )}
      {picker}
    </AddForm>
  );
}

function AccountField({
  accounts,
  value,
  onChange,
}: {
  readonly accounts: readonly { readonly id: string; readonly accountName: string }[];
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
}) {
  const { t } = useText();
  return (
    <SelectField
      label={t('Account')}
      value={value ?? ''}
      onChange={onChange}
      options={accounts.map(({ id, accountName }) => ({ value: id, label: accountName }))}
    />
  );
}

function ServiceField({
  value,
  onChange,
}: {
  readonly value: ConnectableProvider;
  readonly onChange: (provider: ConnectableProvider) => void;
}) {
  const { t } = useText();
  const { nameKind } = useWords();
  return (
    <SelectField
      label={t('Service')}
      value={value}
      onChange={onChange}
      options={providers.map((each) => ({ value: each, label: nameKind(each) }))}
    />
  );
}
