import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { ConnectMcpServerDocument } from './documents.ts';
import { type Provider, providerWords, useConnect } from './providers.ts';

/** Chooses a service to connect: to read from it, or to prove who one is there. */
export function ConnectDialog({
  isProof = false,
  onClose,
  onConnected,
}: {
  readonly isProof?: boolean;
  readonly onClose: () => void;
  readonly onConnected: () => void;
}) {
  const { t } = useText();
  const words = providerWords(t);
  const providers = (Object.keys(words) as Provider[]).filter((provider) => provider !== 'MCP');
  const { connect, isConnecting, error, blockedUrl } = useConnect();
  return (
    <Dialog title={isProof ? t('Connect my account') : t('Connect an account')} isOpen onClose={onClose}>
      <p className={styles.quiet}>
        {isProof
          ? t('A window of the service opens. Sign in there with your own account and agree: that proves that it is yours.')
          : t('A window of the service opens. Sign in there and agree; the connection is in the list then.')}
      </p>
      <div className={styles.cards}>
        {providers.map((provider) => (
          <Button key={provider} disabled={isConnecting} onClick={() => void connect(provider)}>
            {words[provider]}
          </Button>
        ))}
      </div>
      <ErrorNote error={error} />
      {blockedUrl === undefined ? null : (
        <Note tone="warn">
          {t('The browser blocked the window.')}{' '}
          <a href={blockedUrl} target="_blank" rel="noopener noreferrer">
            {t('Open it')}
          </a>
        </Note>
      )}
      {isProof ? null : (
        <McpServer
          onConnected={() => {
            onConnected();
            onClose();
          }}
        />
      )}
    </Dialog>
  );
}

function McpServer({ onConnected }: { readonly onConnected: () => void }) {
  const { t } = useText();
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [token, setToken] = useState('');
  const { run, isBusy, error } = useMutate(ConnectMcpServerDocument);
  const save = async () => {
    const headers = token.trim() === '' ? {} : { headers: [{ name: 'authorization', value: `Bearer ${token.trim()}` }] };
    if ((await run({ input: { name: name.trim(), url: url.trim(), ...headers } })) !== undefined) onConnected();
  };
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
        <Field label={t('Name')} error={findFault(error, 'name')}>
          {(control) => <TextInput {...control} maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label={t('Address')} error={findFault(error, 'url')}>
          {(control) => <TextInput {...control} type="url" value={url} onChange={(event) => setUrl(event.target.value)} />}
        </Field>
        <Field label={t('Token')} hint={t('Where the server wants one. It is sealed and never shown again.')}>
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="off"
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        <ErrorNote error={errorBeside(error, ['name', 'url'])} />
        <div>
          <Button type="submit" isBusy={isBusy} disabled={name.trim() === '' || url.trim() === ''}>
            {t('Connect the server')}
          </Button>
        </div>
      </form>
    </details>
  );
}
