import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Checkbox } from '../../../ui/form/field.tsx';
import { TextAreaField } from '../../../ui/form/fields.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { useChat } from '../chat-context.ts';
import { type Chat_MessageFragment, ChatRateDocument } from '../documents.ts';

/** Asks what was wrong with an answer. It is rated already; the reason may be left out. */
export function ReasonDialog({
  message,
  isOpen,
  onClose,
}: {
  readonly message: Chat_MessageFragment;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  const { transcript } = useChat();
  const { run, isBusy, error } = useMutate(ChatRateDocument);
  const [tags, setTags] = useState<readonly string[]>(message.feedback?.tags ?? []);
  const [comment, setComment] = useState(message.feedback?.comment ?? '');
  const reasons = [
    ['wrong', t('It is wrong')],
    ['incomplete', t('Something is missing')],
    ['bad source', t('The sources do not fit')],
    ['not asked', t('It answers something else')],
    ['style', t('Its style is not good')],
  ] as const;
  const send = async () => {
    const input = { rating: 'DOWN' as const, tags: [...tags], comment: comment.trim() === '' ? null : comment };
    const rated = await run({ id: message.id, input });
    if (rated === undefined) return;
    transcript.takeMessage(rated.rateMessage);
    onClose();
  };
  return (
    <Dialog
      title={t('What was wrong?')}
      size="small"
      isOpen={isOpen}
      onClose={onClose}
      onSubmit={() => void send()}
      actions={
        <>
          <Button onClick={onClose}>{t('Leave it out')}</Button>
          <Button variant="primary" type="submit" isBusy={isBusy}>
            {t('Send')}
          </Button>
        </>
      }
    >
      {reasons.map(([tag, label]) => (
        <Checkbox
          key={tag}
          label={label}
          checked={tags.includes(tag)}
          onChange={({ target }) => setTags(target.checked ? [...tags, tag] : tags.filter((each) => each !== tag))}
        />
      ))}
      <TextAreaField
        label={t('In your words')}
        hint={t('Editors of the agent and administrators read this.')}
        value={comment}
        maxLength={2000}
        onChange={setComment}
      />
      <ErrorNote error={error} />
    </Dialog>
  );
}
