import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { BlockedWindow } from './BlockedWindow.tsx';
import { McpServer } from './McpServer.tsx';
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
      {blockedUrl === undefined ? null : <BlockedWindow url={blockedUrl} />}
      {isProof ? null : <McpServer onStored={onConnected} onDone={onClose} />}
    </Dialog>
  );
}
