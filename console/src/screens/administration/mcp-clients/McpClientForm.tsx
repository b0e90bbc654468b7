import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { type McpOauthClientRowFragment, SaveMcpOauthClientDocument } from './documents.ts';

/** Where people come back from the sign-in. */
const redirectAddress = `${location.origin}/oauth/callback`;

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
  const { run, isBusy, error } = useMutate(SaveMcpOauthClientDocument);
  const save = async () => {
    const scopeList = scopes.split(/\s+/).filter((scope) => scope !== '');
    const secret = clientSecret === '' ? {} : { clientSecret };
    const input = { url: url.trim(), clientId: clientId.trim(), scopes: scopeList, ...secret };
    if ((await run({ input })) !== undefined) onSaved();
  };
  return (
    <Dialog
      title={saved === undefined ? t('New client') : t('Change {name}', { name: saved.url })}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={url.trim() === '' || clientId.trim() === ''}>
            {t('Save')}
          </Button>
        </>
      }
    >
      <p>{t('Register a client at the authorization server of the MCP server first, with this redirect address:')}</p>
      <CodeBox text={redirectAddress} label={t('Redirect address')} />
      {saved === undefined ? (
        <Field
          label={t('Address of the MCP server')}
          hint={t('As members store it in their connections.')}
          error={findFault(error, 'url')}
        >
          {(control) => <TextInput {...control} type="url" value={url} onChange={({ target }) => setUrl(target.value)} />}
        </Field>
      ) : null}
      <Field label={t('Client id')} error={findFault(error, 'clientId')}>
        {(control) => (
          <TextInput
            {...control}
            spellCheck={false}
            autoComplete="off"
            value={clientId}
            onChange={({ target }) => setClientId(target.value)}
          />
        )}
      </Field>
      <Field
        label={t('Client secret')}
        hint={
          saved?.hasSecret === true
            ? t('It has to be given again with each change. Empty: the client has none.')
            : t('Empty: the client has none.')
        }
        error={findFault(error, 'clientSecret')}
      >
        {(control) => (
          <TextInput
            {...control}
            type="password"
            autoComplete="off"
            value={clientSecret}
            onChange={({ target }) => setClientSecret(target.value)}
          />
        )}
      </Field>
      <Field
        label={t('Scopes')}
        hint={t('Separated by spaces. Empty: those that the server names.')}
        error={findFault(error, 'scopes')}
      >
        {(control) => (
          <TextInput {...control} spellCheck={false} value={scopes} onChange={({ target }) => setScopes(target.value)} />
        )}
      </Field>
      <ErrorNote error={errorBeside(error, ['url', 'clientId', 'clientSecret', 'scopes'])} />
    </Dialog>
  );
}
