import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import type { Text } from '../../../text/text.ts';
import { ConnectDocument, type ConnectMutationVariables } from './documents.ts';

type Consent = Omit<ConnectMutationVariables['input'], 'provider'>;
export type Provider = ConnectMutationVariables['input']['provider'];

/** The services by the names that people know. All are connected by a sign-in there; MCP servers only where they want one. */
export const providerWords = (t: Text['t']): Readonly<Record<Provider, string>> => ({
  DRIVE_A: t('Google Drive'),
  DRIVE_B: t('OneDrive and SharePoint'),
  WIKI: t('Confluence'),
  TRACKER: t('Jira'),
  REPO_HOST: t('GitHub'),
  MCP: t('MCP server'),
});

/** Connects an account in a window of its own; the list follows by its subscription. */
export function useConnect() {
  const { run, isBusy, error, reset } = useMutate(ConnectDocument);
  const [blockedUrl, setBlockedUrl] = useState<string>();
  /**
   * @returns whether the window of the service is open.
   *
   * @param prepare  what comes before, such as storing a server; undefined: that failed.
   */
  const connect = async (provider: Provider, prepare: () => Promise<Consent | undefined> = async () => ({})) => {
    setBlockedUrl(undefined);
    // Opened by the click itself: browsers block windows that come later.
    const popup = window.open('', 'parley-connect', 'popup,width=640,height=760');
    const consent = await prepare();
    const url = consent === undefined ? undefined : (await run({ input: { provider, ...consent } }))?.authorizeConnection.url;
    if (url === undefined) {
      popup?.close();
      return false;
    }
    if (popup === null) setBlockedUrl(url);
    else popup.location.href = url;
    return popup !== null;
  };
  return { connect, isConnecting: isBusy, error, reset, blockedUrl };
}
