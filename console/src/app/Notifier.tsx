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
  const told = useRef(new Set<string>());
  useLive(NotifierChatsDocument, {}, ({ chatsChanged: { id, node } }) => {
    if (node !== null && node.activeRunId !== null) {
      running.current.add(id);
      return;
    }
    // Of a short run the beginning is told together with the end.
    const wasSeenRunning = running.current.delete(id);
    if (document.visibilityState === 'hidden') void tell(id, wasSeenRunning);
  });
  const tell = async (id: string, wasSeenRunning: boolean) => {
    // Without an answer there is nothing to tell; the chat shows it.
    const { chat } = await run(NotifierChatDocument, { id }).catch(() => ({ chat: null }));
    const body = chat === null || chat.activeRunId !== null ? undefined : describeEnd(chat, wasSeenRunning, t);
    const tag = chat?.activeLeaf?.run?.id ?? id;
    if (chat === null || body === undefined || told.current.has(tag)) return;
    told.current.add(tag);
    await notify(chat.name ?? t('Chat'), { body, tag, onOpen: () => go(`/chats/${chat.id}`) });
  };
  return null;
}

/** What is told of an end; undefined where nothing needs the person. What the answer says is told only to who chose it. */
function describeEnd({ activeLeaf }: EndedChat, wasSeenRunning: boolean, t: (message: string) => string): string | undefined {
  if (activeLeaf == null) return undefined;
  const { content, toolCalls, run: ended } = activeLeaf;
  if (toolCalls.some(({ approval }) => approval)) return t('A call waits for your approval.');
  if (!wasSeenRunning || (ended?.durationMs ?? 0) < longAnswerMs) return undefined;
  if (ended?.status === 'FAILED') return t('The answer failed.');
  if (ended?.status === 'CANCELLED') return undefined;
  return readPreference('answersInNotifications') && content !== '' ? content.slice(0, excerptChars) : t('The answer is there.');
}
