import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { run } from '../graphql/client.ts';
import { useLive } from '../graphql/hooks.ts';
import { notify, tellWhetherSeen } from '../parts/browser/notifications.ts';
import { readPreference, usePreference } from '../parts/browser/preferences.ts';
import { useText } from '../text/text.ts';
import { NotifierChatDocument, type NotifierChatQuery, NotifierChatsDocument } from './documents.ts';

/** An answer that took less is read by who asked. */
const longAnswerMs = 5_000;
const excerptChars = 160;

type EndedChat = NonNullable<NotifierChatQuery['chat']>;

/** Notifies of long answers, and of calls that wait for approval, for who turned that on. */
export function Notifier() {
  const [isOn] = usePreference('notifications');
  useEffect(tellWhetherSeen, []);
  return isOn ? <Watcher /> : null;
}

function Watcher() {
  const { t } = useText();
  const [, go] = useLocation();
  const running = useRef(new Set<string>());
  useLive(NotifierChatsDocument, {}, ({ chatsChanged: { id, node } }) => {
    if (node !== null && node.activeRunId !== null) running.current.add(id);
    else if (running.current.delete(id) && document.visibilityState === 'hidden') void tell(id);
  });
  const tell = async (id: string) => {
    // Without an answer there is nothing to tell; the chat shows it.
    const { chat } = await run(NotifierChatDocument, { id }).catch(() => ({ chat: null }));
    const body = chat === null || chat.activeRunId !== null ? undefined : describeEnd(chat, t);
    if (chat === null || body === undefined) return;
    const tag = chat.activeLeaf?.run?.id ?? chat.id;
    await notify(chat.name ?? t('Chat'), { body, tag, onOpen: () => go(`/chats/${chat.id}`) });
  };
  return null;
}

/** What is told of an end; undefined where nothing needs the person. What the answer says is told only to who chose it. */
function describeEnd({ activeLeaf }: EndedChat, t: (message: string) => string): string | undefined {
  if (activeLeaf == null) return undefined;
  const { content, toolCalls, run: ended } = activeLeaf;
  if (toolCalls.some(({ approval }) => approval)) return t('A call waits for your approval.');
  if ((ended?.durationMs ?? 0) < longAnswerMs) return undefined;
  if (ended?.status === 'FAILED') return t('The answer failed.');
  if (ended?.status === 'CANCELLED') return undefined;
  return readPreference('answersInNotifications') && content !== '' ? content.slice(0, excerptChars) : t('The answer is there.');
}
