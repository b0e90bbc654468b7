import { Plug } from 'lucide-react';
import { useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Checkbox, Field, Select } from '../../../ui/form/field.tsx';
import {
  type AddDataSourceInput,
  ConnectionChoiceDocument,
  type ConnectionEntryFragment,
  type DataSourceType,
  type RefreshPeriod,
} from '../documents.ts';
import { useWords } from '../words.ts';
import type { AddFormProps } from './AddForm.tsx';
import { AddForm, PeriodField, useAddSource } from './AddForm.tsx';
import { useAgentChoice } from './AgentPicker.tsx';
import styles from './add.module.css';
import { type ConnectableProvider, useConnecting } from './connecting.ts';
import { type Entry, EntryBrowser } from './EntryBrowser.tsx';

const providers: readonly ConnectableProvider[] = ['DRIVE_A', 'DRIVE_B', 'WIKI', 'TRACKER', 'REPO_HOST'];

/** Adds what the reader has in another service: connects an account first, then chooses in it. */
export function ConnectedForm({ agentId, onClose }: AddFormProps) {
  const { t } = useText();
  const { kinds } = useWords();
  const [provider, setProvider] = useState<ConnectableProvider>('DRIVE_A');
  const [connectionId, setConnectionId] = useState<string>();
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [isAll, setAll] = useState(false);
  const [refreshPeriod, setRefreshPeriod] = useState<RefreshPeriod>('DAILY');
  const { data, error: loadError, reload } = usePage(ConnectionChoiceDocument, {});
  const connecting = useConnecting((connection) => {
    reload();
    if (connection.provider === provider) setConnectionId(connection.id);
  });
  const { picker, agent, isReady } = useAgentChoice(agentId, false);
  const { addSource, isBusy, error } = useAddSource(onClose);
  const own = (data?.connections.nodes ?? []).filter((connection) => connection.provider === provider);
  const current = own.find(({ id }) => id === connectionId) ?? own[0];
  const isWhole = isAll && (provider === 'REPO_HOST' || provider === 'WIKI');
  const input = current === undefined ? undefined : toInput(current, entries, isWhole, refreshPeriod);
  return (
    <AddForm
      error={error}
      isBusy={isBusy}
      isReady={input !== undefined && isReady}
      onSubmit={() => input !== undefined && void addSource(agent, input)}
      onClose={onClose}
    >
      <div className={styles.pair}>
        <Field label={t('Service')}>
          {(control) => (
            <Select
              {...control}
              value={provider}
              onChange={({ target }) => {
                setProvider(target.value as ConnectableProvider);
                setEntries([]);
              }}
            >
              {providers.map((each) => (
                <option key={each} value={each}>
                  {kinds[each]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {own.length > 0 ? (
          <Field label={t('Account')}>
            {(control) => (
              <Select {...control} value={current?.id} onChange={({ target }) => setConnectionId(target.value)}>
                {own.map(({ id, accountName }) => (
                  <option key={id} value={id}>
                    {accountName}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        ) : null}
        <Button icon={<Plug size={16} aria-hidden />} isBusy={connecting.isOpen} onClick={() => void connecting.begin(provider)}>
          {own.length > 0 ? t('Connect another account') : t('Connect {service}', { service: kinds[provider] })}
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
          {provider === 'REPO_HOST' || provider === 'WIKI' ? (
            <Checkbox
              label={provider === 'WIKI' ? t('All spaces') : t('All repositories, also future ones')}
              checked={isAll}
              onChange={({ target }) => setAll(target.checked)}
            />
          ) : null}
          {isWhole ? null : (
            <EntryBrowser
              key={current.id}
              connectionId={current.id}
              chosen={entries}
              isMany={provider === 'DRIVE_A' || provider === 'REPO_HOST'}
              onChange={setEntries}
            />
          )}
          <PeriodField value={refreshPeriod} onChange={setRefreshPeriod} />
        </>
      )}
      {picker}
    </AddForm>
  );
}

/** What the service is asked to add; undefined while nothing is chosen. */
function toInput(
  { id: connectionId, provider, accountName }: ConnectionEntryFragment,
  entries: readonly Entry[],
  isWhole: boolean,
  refreshPeriod: RefreshPeriod,
): AddDataSourceInput | undefined {
  const [entry] = entries;
  const common = { connectionId, refreshPeriod };
  if (provider === 'REPO_HOST' && isWhole) return { repoHost: { ...common, mode: 'ALL' } };
  if (provider === 'WIKI' && isWhole) return { wiki: { ...common, allSpaces: true, pageName: accountName } };
  if (entry === undefined) return undefined;
  const { entryId, name, kind } = entry;
  switch (provider as DataSourceType) {
    case 'DRIVE_A':
      return { driveA: { ...common, files: entries.map((each) => ({ id: each.entryId, name: each.name })) } };
    case 'DRIVE_B':
      return { driveB: { ...common, fileId: entryId, filename: name } };
    case 'TRACKER':
      return { tracker: { ...common, projectKey: entryId, projectName: name } };
    case 'REPO_HOST':
      return { repoHost: { ...common, mode: 'REPOS', repos: entries.map((each) => each.entryId) } };
    case 'WIKI':
      if (kind === 'SPACE') return { wiki: { ...common, spaceId: entryId, pageName: name } };
      return {
        wiki: {
          ...common,
          pageId: entryId,
          pageName: name,
          contentType: kind === 'FOLDER' ? 'folder' : 'page',
          indexChildPages: true,
        },
      };
    default:
      return undefined;
  }
}
