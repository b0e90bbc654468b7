import { Eraser, ScrollText } from 'lucide-react';
import { run } from '../../../graphql/client.ts';
import { useText } from '../../../text/text.ts';
import type { MenuItem } from '../../../ui/overlay/menu.tsx';
import { useAttempt, useToast } from '../../../ui/overlay/toasts.tsx';
import { useChat } from '../chat-context.ts';
import { ChatCompressDocument, ChatEmptyContextDocument } from '../documents.ts';

/** What can be done with that which the agent gets of a chat, as items of a menu. */
export function useContextActs(): readonly MenuItem[] {
  const { t } = useText();
  const say = useToast();
  const attempt = useAttempt();
  const { chat, transcript, isBusy } = useChat();
  const summarize = () =>
    attempt(async () => {
      say(t('Summarizing what was said…'), 'neutral');
      const before = chat.contextStart?.summary ?? null;
      const { compressChat } = await run(ChatCompressDocument, { id: chat.id });
      if (compressChat.summary === before) say(t('There is nothing to summarize yet: the last two questions stay as they are.'));
      else say(t('The earlier part is summarized.'));
      await transcript.reload();
    });
  const empty = () =>
    attempt(async () => {
      transcript.takeHead((await run(ChatEmptyContextDocument, { id: chat.id })).emptyChatContext);
    });
  return [
    {
      ...{ label: t('Summarize the earlier part'), icon: <ScrollText size={16} aria-hidden /> },
      ...{ isDisabled: isBusy, onSelect: () => void summarize() },
    },
    {
      ...{ label: t('Begin afresh from here'), icon: <Eraser size={16} aria-hidden /> },
      ...{ isDisabled: isBusy, onSelect: () => void empty() },
    },
  ];
}
