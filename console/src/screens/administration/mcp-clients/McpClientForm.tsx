import { useEffect, useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { type McpOauthClientRowFragment, SaveMcpOauthClientDocument } from './documents.ts';

/** Saves the client of an MCP server: a new one, or in place of one that is there. */
export function McpClientForm({
  saved,
  onClose,
  onSaved,
}: {
  readonly saved: McpOauthClientRowFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const [url, setUrl] = useState(saved?.url ?? '');
  const [clientId, setClientId] = useState(saved?.clientId ?? '');
  const [clientSecret, setClientSecret] = useState('');
  const [scopes, setScopes] = useState(saved?.scopes.join(' ') ?? '');
  const redirectAddress = useRedirectAddress();
  const { run, isBusy, error } = useMutate(SaveMcpOauthClientDocument);
  const save = async () => {
    const scopeList = scopes.split(/\s+/).filter((scope) => scope !== '');
    const secret = clientSecret === '' ? {} : { clientSecret };
    const input = { url: url.trim(), clientId: clientId.trim(), scopes: scopeList, ...secret };
    if ((await run({ input })) !== undefined) onSaved();
  };
  return (
    <FormDialog
      title={saved === undefined ? t('New client') : t('Change {name}', { name: saved.url })}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isBusy={isBusy}
      isBlocked={url.trim() === '' || clientId.trim() === ''}
    >
      <p>{t('Register a client at the authorization server of the MCP server first, with this redirect address:')}</p>
      {redirectAddress === undefined ? null : <CodeBox text={redirectAddress} label={t('Redirect address')} />}
      {saved === undefined ? (
        <TextField
          label={t('Address of the MCP server')}
          hint={t('As members store it in their connections.')}
          error={findFault(error, 'url')}
          type="url"
          value={url}
          onChange={setUrl}
        />
      ) : null}
      <TextField
        label={t('Client id')}
        error={findFault(error, 'clientId')}
        spellCheck={false}
        autoComplete="off"
        value={clientId}
        onChange={setClientId}
      />
      <TextField
        label={t('Client secret')}
        hint={
          saved?.hasSecret === true
            ? t('It has to be given again with each change. Empty: the client has none.')
            : t('Empty: the client has none.')
        }
        error={findFault(error, 'clientSecret')}
        type="password"
        autoComplete="off"
        value={clientSecret}
        onChange={setClientSecret}
      />
      <TextField
        label={t('Scopes')}
        hint={t('Separated by spaces. Empty: those that the server names.')}
        error={findFault(error, 'scopes')}
        spellCheck={false}
        value={scopes}
        onChange={setScopes}
      />
      <ErrorNote error={errorBeside(error, ['url', 'clientId', 'clientSecret', 'scopes'])} />
    </FormDialog>
  );
}

/** Where people come back from the sign-in: the service says it in its document of a client, as PUBLIC_URL may be another address than this one. */
function useRedirectAddress(): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    void readRedirectAddress(leaving.signal).then((first) => {
      if (!leaving.signal.aborted) setAddress(first);
    });
    return () => leaving.abort();
  }, []);
  return address;
}

async function readRedirectAddress(signal: AbortSignal): Promise<string> {
  try {
    const reply = await fetch('/oauth/client-metadata.json', { signal });
    const { redirect_uris: addresses }: { readonly redirect_uris?: readonly string[] } = await reply.json();
    if (addresses?.[0] !== undefined) return addresses[0];
  } catch {
    // Without the document the address of this page is the best guess.
  }
  return `${location.origin}/oauth/callback`;
}
