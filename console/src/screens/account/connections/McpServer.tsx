import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import type { FieldError } from '../../../ui/form/field.tsx';
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
  const [fields, setFields] = useState<Fields>(emptyFields);
  const change = (members: Partial<Fields>) => setFields({ ...fields, ...members });
  const { save, isBusy, error, blockedUrl } = useServer(fields, onStored);
  const { way, name, url } = fields;
  const words: Readonly<Record<Way, string>> = {
    NONE: t('Without signing in'),
    PERSON: t('I sign in there in the browser'),
    TOKEN: t('With a token that I have'),
    CLIENT: t('As an application with a client secret'),
  };
  const submit = async () => {
    if (await save()) onDone();
  };
  return (
    <details className={styles.details}>
      <summary>{t('MCP server')}</summary>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <TextField
          label={t('Name')}
          error={findFault(error, 'name')}
          maxLength={200}
          value={name}
          onChange={(value) => change({ name: value })}
        />
        <TextField
          label={t('Address')}
          error={findFault(error, 'url')}
          type="url"
          value={url}
          onChange={(value) => change({ url: value })}
        />
        <SelectField
          label={t('Access')}
          value={way}
          onChange={(value) => change({ way: value })}
          options={ways.map((one) => ({ value: one, label: words[one] }))}
        />
        {way === 'TOKEN' ? <SecretField label={t('Token')} value={fields.token} onChange={(token) => change({ token })} /> : null}
        {hasClient(way) ? <ClientFields fields={fields} error={error} onChange={change} /> : null}
        <ErrorNote error={errorBeside(error, ['name', 'url', ...(hasClient(way) ? ['clientId', 'clientSecret'] : [])])} />
        {blockedUrl === undefined ? null : <BlockedWindow url={blockedUrl} />}
        <div>
          <Button type="submit" isBusy={isBusy} disabled={name.trim() === '' || url.trim() === ''}>
            {way === 'PERSON' ? t('Store the server and sign in') : t('Connect the server')}
          </Button>
        </div>
      </form>
    </details>
  );
}

interface Fields {
  readonly way: Way;
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const emptyFields: Fields = { way: 'NONE', name: '', url: '', token: '', clientId: '', clientSecret: '' };

const hasClient = (way: Way) => way === 'PERSON' || way === 'CLIENT';

/** Stores what is typed; `save` says whether the server can be used, or its sign-in is open in a window. */
function useServer({ way, token, clientId, clientSecret, ...typed }: Fields, onStored: () => void) {
  const [name, url] = [typed.name.trim(), typed.url.trim()];
  const [stored, setStored] = useState<{ readonly id: string; readonly key: string }>();
  const { run, isBusy, error } = useMutate(ConnectMcpServerDocument);
  const { connect, isConnecting, error: failure, blockedUrl } = useConnect();
  const client = {
    ...(clientId.trim() === '' ? {} : { clientId: clientId.trim() }),
    ...(clientSecret.trim() === '' ? {} : { clientSecret: clientSecret.trim() }),
  };
  const store = async () => {
    // A sign-in that failed is tried again with the server that is stored already.
    const key = JSON.stringify([way, name, url]);
    if (stored?.key === key) return stored.id;
    const isToken = way === 'TOKEN' && token.trim() !== '';
    const headers = isToken ? { headers: [{ name: 'authorization', value: `Bearer ${token.trim()}` }] } : {};
    const id = (await run({ input: { name, url, ...headers, ...(way === 'CLIENT' ? client : {}) } }))?.storeMcpServer.id;
    if (id === undefined) return undefined;
    setStored({ id, key });
    onStored();
    return id;
  };
  const save = async (): Promise<boolean> => {
    if (way !== 'PERSON') return (await store()) !== undefined;
    return connect('MCP', async () => {
      const connectionId = await store();
      return connectionId === undefined ? undefined : { connectionId, ...client };
    });
  };
  return { save, isBusy: isBusy || isConnecting, error: error ?? failure, blockedUrl };
}

/** The client that Parley is at the server. Where a person signs in, most servers make one by themselves. */
function ClientFields({
  fields: { way, clientId, clientSecret },
  error,
  onChange,
}: {
  readonly fields: Fields;
  readonly error: ParleyError | undefined;
  readonly onChange: (members: Partial<Fields>) => void;
}) {
  const { t } = useText();
  return (
    <>
      <TextField
        label={t('Client id')}
        hint={way === 'PERSON' ? t('Only where your administrator or the server gave you one.') : undefined}
        error={findFault(error, 'clientId')}
        autoComplete="off"
        value={clientId}
        onChange={(value) => onChange({ clientId: value })}
      />
      <SecretField
        label={t('Client secret')}
        error={findFault(error, 'clientSecret')}
        value={clientSecret}
        onChange={(value) => onChange({ clientSecret: value })}
      />
    </>
  );
}

function SecretField(props: {
  readonly label: string;
  readonly error?: FieldError;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { t } = useText();
  return <TextField {...props} hint={t('It is sealed and never shown again.')} type="password" autoComplete="off" />;
}
