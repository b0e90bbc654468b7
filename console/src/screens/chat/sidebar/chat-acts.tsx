import { Archive, ArchiveRestore, CopyPlus, FileDown, Pencil, Pin, PinOff, Printer, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { run } from '../../../graphql/client.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import type { MenuItem } from '../../../ui/overlay/menu.tsx';
import { useAttempt, useToast } from '../../../ui/overlay/toasts.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import {
  ChatDeleteDocument,
  ChatDuplicateDocument,
  ChatFileExportDocument,
  ChatTreeExportDocument,
  ChatUpdateDocument,
} from '../documents.ts';
import { printChat } from '../transcript/printing.ts';
import { getTranscript } from '../transcript/transcript.ts';
import { chatList } from './chat-list.ts';

interface NamedChat {
  readonly id: string;
  readonly name: string | null;
  readonly pinPosition: number | null;
  readonly isArchived: boolean;
}

/**
 * What can be done with a whole chat, as items of a menu.
 *
 * @param onRename  opens a `RenameDialog`, where the chat cannot move while it is open.
 */
export function useChatActs(chat: NamedChat, onRename: () => void): readonly (MenuItem | 'separator')[] {
  const { t } = useText();
  const confirm = useConfirm();
  const say = useToast();
  const attempt = useAttempt();
  const [path, go] = useLocation();
  const pin = () =>
    attempt(async () => {
      const pinPosition = chat.pinPosition === null ? 1 : null;
      chatList.take((await run(ChatUpdateDocument, { id: chat.id, input: { pinPosition } })).updateChat);
    });
  const archive = () =>
    attempt(async () => {
      const { updateChat } = await run(ChatUpdateDocument, { id: chat.id, input: { isArchived: !chat.isArchived } });
      chatList.take(updateChat);
      if (updateChat.isArchived) say(t('The chat is archived: All chats, at the foot of the list, leads to it.'));
    });
  const duplicate = () =>
    attempt(async () => {
      const { duplicateChat } = await run(ChatDuplicateDocument, { id: chat.id });
      go(`/chats/${duplicateChat.id}`);
    });
  const saveText = () =>
    attempt(async () => {
      const { content, contentType, filename } = (await run(ChatFileExportDocument, { chatId: chat.id, format: 'MARKDOWN' }))
        .chatExport;
      saveFile(new Blob([content], { type: contentType }), filename);
    });
  // With all branches, so that it can be imported again.
  const saveTree = () =>
    attempt(async () => {
      const { content, contentType, filename } = (await run(ChatTreeExportDocument, { chatId: chat.id })).chatTree;
      saveFile(new Blob([content], { type: contentType }), filename);
    });
  const remove = () =>
    attempt(async () => {
      const isWanted = await confirm({
        title: t('Delete this chat?'),
        body: t('It goes to the bin, where you can restore it for a while.'),
        action: t('Delete'),
        isDanger: true,
      });
      if (!isWanted) return;
      await run(ChatDeleteDocument, { id: chat.id });
      chatList.remove(chat.id);
      if (path === `/chats/${chat.id}`) go('/');
    });
  const isPinned = chat.pinPosition !== null;
  const pinIcon = isPinned ? <PinOff size={16} aria-hidden /> : <Pin size={16} aria-hidden />;
  return [
    { label: t('Rename'), icon: <Pencil size={16} aria-hidden />, onSelect: onRename },
    { label: isPinned ? t('Unpin') : t('Pin'), icon: pinIcon, onSelect: () => void pin() },
    {
      label: chat.isArchived ? t('Put back into the list') : t('Archive'),
      icon: chat.isArchived ? <ArchiveRestore size={16} aria-hidden /> : <Archive size={16} aria-hidden />,
      onSelect: () => void archive(),
    },
    { label: t('Duplicate'), icon: <CopyPlus size={16} aria-hidden />, onSelect: () => void duplicate() },
    { label: t('Export as Markdown'), icon: <FileDown size={16} aria-hidden />, onSelect: () => void saveText() },
    { label: t('Export as JSON'), icon: <FileDown size={16} aria-hidden />, onSelect: () => void saveTree() },
    ...(path === `/chats/${chat.id}`
      ? [
          {
            label: t('Print or save as PDF'),
            icon: <Printer size={16} aria-hidden />,
            onSelect: () => void printChat(getTranscript(chat.id)),
          },
        ]
      : []),
    'separator',
    { label: t('Delete'), icon: <Trash2 size={16} aria-hidden />, isDanger: true, onSelect: () => void remove() },
  ];
}

export function RenameDialog({ chat, onClose }: { readonly chat: NamedChat; readonly onClose: () => void }) {
  const { t } = useText();
  const [name, setName] = useState(chat.name ?? '');
  const { run: update, isBusy, error } = useMutate(ChatUpdateDocument);
  const save = async () => {
    const result = await update({ id: chat.id, input: { name: name.trim() } });
    if (result === undefined) return;
    chatList.take(result.updateChat);
    onClose();
  };
  return (
    <FormDialog
      title={t('Rename the chat')}
      size="small"
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Rename')}
      isBusy={isBusy}
      isBlocked={name.trim() === ''}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} value={name} maxLength={200} onChange={setName} />
      <ErrorNote error={errorBeside(error, ['name'])} />
    </FormDialog>
  );
}
