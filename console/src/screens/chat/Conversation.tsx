import { MessageSquareOff, MoreHorizontal, Share2 } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { run } from '../../graphql/client.ts';
import { usePage } from '../../graphql/hooks.ts';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../ui/feedback.tsx';
import { ButtonLink, IconButton } from '../../ui/form/button.tsx';
import { Menu } from '../../ui/overlay/menu.tsx';
import { useTitle } from '../../ui/page.tsx';
import { Avatar } from '../../ui/small.tsx';
import styles from './Chat.module.css';
import { type ChatAround, ChatContext } from './chat-context.ts';
import { Foot } from './composer/Foot.tsx';
import { type Chat_HeadFragment, ChatMarkReadDocument, ChatSettingsDocument } from './documents.ts';
import { RenameDialog, useChatActs } from './sidebar/chat-acts.tsx';
import { Sources } from './sources/Sources.tsx';
import { claimIn, useSources, withMessage } from './sources/use-sources.ts';
import { chosenModel, chooseModel as storeModel } from './start/chosen-model.ts';
import { Rows } from './transcript/Rows.tsx';
import { getTranscript, type TranscriptView } from './transcript/transcript.ts';
import { useContextActs } from './transcript/use-context-acts.tsx';
import { useNews } from './transcript/use-news.ts';

const ShareDialog = lazy(() =>
  import('../../parts/shares/ShareDialog.tsx').then(({ ShareDialog: dialog }) => ({ default: dialog })),
);

/** One chat: what was said, what is being said, the box, and the sources of an answer beside it. */
export function Conversation({ chatId }: { readonly chatId: string }) {
  const { t } = useText();
  const transcript = useMemo(() => getTranscript(chatId), [chatId]);
  const view = useSyncExternalStore(transcript.subscribe, transcript.getSnapshot);
  const { data: settings } = usePage(ChatSettingsDocument, {});
  const [sources, setSources] = useSources(view.messages);
  const { chat } = view;
  const [model, setModel] = useState(() => chosenModel(chatId));
  const runIds = useActiveRuns(view);
  const isBusy = runIds.length > 0;
  useTitle(chat?.name ?? t('Chat'));
  useReadMark(chat ?? undefined);
  useNews(view);
  const models = useMemo(() => (settings?.models ?? []).map(({ id }) => id), [settings]);
  const chooseModel = useCallback(
    (next: string | undefined) => {
      storeModel(chatId, next);
      setModel(next);
    },
    [chatId],
  );
  const box = useRef<HTMLTextAreaElement>(null);
  const costCurrency = settings?.viewer.costCurrency;
  const around = useMemo<ChatAround | undefined>(
    () =>
      chat === null || chat === undefined
        ? undefined
        : { chat, transcript, isBusy, models, chooseModel, costCurrency, box, openSources: setSources },
    [chat, transcript, isBusy, models, chooseModel, costCurrency, setSources],
  );
  if (chat === null) {
    return (
      <EmptyState
        icon={<MessageSquareOff size={26} aria-hidden />}
        isScreen
        title={t('This chat is not there')}
        action={
          <ButtonLink variant="primary" href="/">
            {t('New chat')}
          </ButtonLink>
        }
      >
        {t('It was deleted, or you may not read it any more.')}
      </EmptyState>
    );
  }
  if (around === undefined || chat === undefined) {
    return (
      <div className={styles.loading}>
        {view.error === undefined ? (
          <Skeleton lines={8} />
        ) : (
          <ErrorNote error={view.error} onRetry={() => void transcript.reload()} />
        )}
      </div>
    );
  }
  return (
    <ChatContext value={around}>
      <div className={styles.conversation}>
        <Header chat={chat} />
        {view.error === undefined ? null : <ErrorNote error={view.error} onRetry={() => void transcript.reload()} />}
        <Rows transcript={transcript} view={view} />
        {chat.canWrite ? (
          <Foot around={around} runIds={runIds} model={model} fileMaxBytes={settings?.viewer.limits.chatFileMaxBytes} />
        ) : (
          <p className={styles.readOnly}>{t('This is the chat of another person: you may read it, not write in it.')}</p>
        )}
      </div>
      {sources === undefined ? null : (
        <Sources
          sources={withMessage(sources, view.messages)}
          onOpen={(index) => setSources({ ...sources, index, claim: claimIn(view.messages, sources, index) })}
          onClose={() => setSources(undefined)}
        />
      )}
    </ChatContext>
  );
}

function Header({ chat }: { readonly chat: Chat_HeadFragment }) {
  const { t } = useText();
  const { may } = useSession();
  const [isRenaming, setRenaming] = useState(false);
  const acts = useChatActs(chat, () => setRenaming(true));
  const contextActs = useContextActs();
  const items = [...contextActs, 'separator' as const, ...acts];
  const agent = chat.agent;
  const who = (
    <>
      <Avatar name={agent?.name ?? chat.modelId ?? '?'} pictureUrl={agent?.pictureUrl} />
      <span>{agent?.name ?? chat.modelId ?? t('An agent that is gone')}</span>
    </>
  );
  return (
    <header className={styles.head}>
      {agent !== null && may('AGENTS_READ') ? (
        <Link href={`/agents/${agent.id}`} className={styles.agent}>
          {who}
        </Link>
      ) : (
        <span className={styles.agent}>{who}</span>
      )}
      <h1>{chat.name ?? t('New chat')}</h1>
      {chat.isArchived ? <Badge>{t('Archived')}</Badge> : null}
      {chat.project === null ? null : (
        <Link href={`/projects/${chat.project.id}`} className={styles.project}>
          {chat.project.name}
        </Link>
      )}
      {chat.canWrite ? <ShareButton chatId={chat.id} /> : null}
      {chat.canWrite ? (
        <Menu label={t('This chat')} items={items}>
          <IconButton label={t('More about this chat')}>
            <MoreHorizontal size={18} aria-hidden />
          </IconButton>
        </Menu>
      ) : null}
      {isRenaming ? <RenameDialog chat={chat} onClose={() => setRenaming(false)} /> : null}
    </header>
  );
}

function ShareButton({ chatId }: { readonly chatId: string }) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t('Share this chat')} onClick={() => setOpen(true)}>
        <Share2 size={18} aria-hidden />
      </IconButton>
      {isOpen ? (
        <Suspense fallback={null}>
          <ShareDialog chatId={chatId} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** The runs that answer now: one, and those beside it. The same list while they are the same. */
function useActiveRuns({ chat, runIds }: TranscriptView): readonly string[] {
  const main = runIds[0] ?? chat?.activeRunId ?? undefined;
  const beside = (chat?.comparison?.runs ?? []).flatMap(({ id, status }) => (status === 'IN_PROGRESS' ? [id] : []));
  const text = [...(main === undefined ? [] : [main]), ...beside].join(' ');
  return useMemo(() => text.split(' ').filter((id) => id !== ''), [text]);
}

/** A chat that is looked at is read. */
function useReadMark(chat: Chat_HeadFragment | undefined): void {
  const id = chat?.id;
  const isUnread = chat?.isUnread === true;
  useEffect(() => {
    if (id === undefined || !isUnread) return;
    const mark = () => {
      // The mark stays when this fails, and the next look takes it away.
      if (document.visibilityState === 'visible') void run(ChatMarkReadDocument, { id }).catch(() => undefined);
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [id, isUnread]);
}
