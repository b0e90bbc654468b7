import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { BlockedWindow } from './BlockedWindow.tsx';
import { ConnectMcpServerDocument } from './documents.ts';
import { useConnect } from './providers.ts';

/** How Parley proves itself to an MCP server. */
const ways = ['NONE', 'PERSON', 'TOKEN', 'CLIENT'] as const;
type Way = (typeof ways)[number];

/** The form that stores an MCP server, and has the person sign in to it where it wants that. */
export function McpServer({ onStored, onDone }: { readonly onStored: () => void; readonly onDone: () => void }) {
  const { t } = useText();
  const [way, setWay] = useState<Way>('NONE');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [token, setToken] = useState('');
  const [clientId, setClientId] = useState('');
  const [clientSecret, setClientSecret] = useState('');
  const [stored, setStored] = useState<{ readonly id: string; readonly key: string }>();
  const { run, isBusy, error } = useMutate(ConnectMcpServerDocument);
  const { connect, isConnecting, error: failure, blockedUrl } = useConnect();
  const words: Readonly<Record<Way, string>> = {
    NONE: t('Without signing in'),
    PERSON: t('I sign in there in the browser'),
    TOKEN: t('With a token that I have'),
    CLIENT: t('As an application with a client secret'),
  };
  const client = {
    ...(clientId.trim() === '' ? {} : { clientId: clientId.trim() }),
    ...(clientSecret.trim() === '' ? {} : { clientSecret: clientSecret.trim() }),
  };
  const hasClient = way === 'PERSON' || way === 'CLIENT';
  const store = async () => {
    // A sign-in that failed is tried again with the server that is stored already.
    const key = JSON.stringify([way, name.trim(), url.trim()]);
    if (stored?.key === key) return stored.id;
    const isToken = way === 'TOKEN' && token.trim() !== '';
    const headers = isToken ? { headers: [{ name: 'authorization', value: `Bearer ${token.trim()}` }] } : {};
    const own = way === 'CLIENT' ? client : {};
    const id = (await run({ input: { name: name.trim(), url: url.trim(), ...headers, ...own } }))?.storeMcpServer.id;
    if (id === undefined) return undefined;
    setStored({ id, key });
    onStored();
    return id;
  };
  const save = async () => {
    if (way !== 'PERSON') return (await store()) === undefined ? undefined : onDone();
    const isOpen = await connect('MCP', async () => {
      const connectionId = await store();
      return connectionId === undefined ? undefined : { connectionId, ...client };
    });
    if (isOpen) onDone();
  };
  const shownError = error ?? failure;
  return (
    <details className={styles.details}>
      <summary>{t('MCP server')}</summary>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField label={t('Name')} error={findFault(error, 'name')} maxLength={200} value={name} onChange={setName} />
        <TextField label={t('Address')} error={findFault(error, 'url')} type="url" value={url} onChange={setUrl} />
        <SelectField
          label={t('Access')}
          value={way}
          onChange={setWay}
          options={ways.map((one) => ({ value: one, label: words[one] }))}
        />
        {way === 'TOKEN' ? (
          <TextField
            label={t('Token')}
            hint={t('It is sealed and never shown again.')}
            type="password"
            autoComplete="off"
            value={token}
            onChange={setToken}
          />
        ) : null}
        {hasClient ? (
          <>
            <TextField
              label={t('Client id')}
              hint={way === 'PERSON' ? t('Only where your administrator or the server gave you one.') : undefined}
              error={findFault(shownError, 'clientId')}
              autoComplete="off"
              value={clientId}
              onChange={setClientId}
            />
            <TextField
              label={t('Client secret')}
              hint={t('It is sealed and never shown again.')}
              error={findFault(shownError, 'clientSecret')}
              type="password"
              autoComplete="off"
              value={clientSecret}
              onChange={setClientSecret}
            />
          </>
        ) : null}
        <ErrorNote error={errorBeside(shownError, ['name', 'url', ...(hasClient ? ['clientId', 'clientSecret'] : [])])} />
        {blockedUrl === undefined ? null : <BlockedWindow url={blockedUrl} />}
        <div>
          <Button type="submit" isBusy={isBusy || isConnecting} disabled={name.trim() === '' || url.trim() === ''}>
            {way === 'PERSON' ? t('Store the server and sign in') : t('Connect the server')}
          </Button>
        </div>
      </form>
    </details>
  );
}
