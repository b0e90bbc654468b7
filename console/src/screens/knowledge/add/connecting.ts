import type { ParleyError } from '@parley/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { readableError, run } from '../../../graphql/client.ts';
import { useLive } from '../../../graphql/hooks.ts';
import { BeginConnectionDocument, ConnectionChoiceChangesDocument, type ConnectionEntryFragment } from '../documents.ts';
import type { ConnectableProvider } from '../kinds.ts';

/** Connects an account in a window of its own, where its service asks the person. The window is closed when the account is there. */
export function useConnecting(onMade: (connection: ConnectionEntryFragment) => void) {
  const [error, setError] = useState<ParleyError>();
  const [isOpen, setOpen] = useState(false);
  const popupRef = useRef<Window>(undefined);
  const end = useCallback(() => {
    popupRef.current?.close();
    popupRef.current = undefined;
    setOpen(false);
  }, []);
  useEffect(() => end, [end]);
  // Nothing tells that the person closed the window.
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => popupRef.current?.closed !== false && end(), 500);
    return () => clearInterval(timer);
  }, [isOpen, end]);
  useLive(ConnectionChoiceChangesDocument, {}, ({ connectionsChanged: { kind, node } }) => {
    if (node === null || kind === 'DELETED') return;
    if (isOpen) end();
    onMade(node);
  });
  const begin = async (provider: ConnectableProvider) => {
    setError(undefined);
    // Browsers open a window in answer to a click only, not after the reply of the service.
    const popup = window.open('about:blank', 'parley-connect', 'popup,width=560,height=720');
    popupRef.current = popup ?? undefined;
    setOpen(popup !== null);
    try {
      const { url } = (await run(BeginConnectionDocument, { provider })).authorizeConnection;
      if (popup === null) location.assign(url);
      else popup.location.href = url;
    } catch (cause) {
      end();
      setError(readableError(cause));
    }
  };
  return { begin, isOpen, error };
}
