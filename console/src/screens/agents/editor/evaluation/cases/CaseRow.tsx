import { Pencil, Trash2 } from 'lucide-react';
import { useMutate } from '../../../../../graphql/hooks.ts';
import { useText } from '../../../../../text/text.ts';
import { Badge, ErrorNote } from '../../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../../ui/form/button.tsx';
import { Row } from '../../parts/Rows.tsx';
import styles from '../../versions/versions.module.css';
import { AgreeToCaseDocument, type CaseRowFragment, RemoveCaseDocument } from '../documents.ts';

interface Props {
  readonly datasetId: string;
  readonly value: CaseRowFragment;
  readonly isReadOnly: boolean;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

/** A case of a dataset: agreed to, edited or taken out. */
export function CaseRow({ datasetId, value, isReadOnly, onEdit, onChanged }: Props) {
  const { t } = useText();
  const agree = useMutate(AgreeToCaseDocument);
  const remove = useMutate(RemoveCaseDocument);
  const { id: caseId, isDraft, question, tags } = value;
  const name = question.slice(0, 60);
  const change = async ({ run, isBusy }: typeof agree | typeof remove) => {
    if (!isBusy && (await run({ datasetId, caseId })) !== undefined) onChanged();
  };
  const acts = (
    <>
      {isDraft ? (
        <Button size="small" isBusy={agree.isBusy} onClick={() => void change(agree)}>
          {t('Agree')}
        </Button>
      ) : null}
      <IconButton label={t('Edit {name}', { name })} onClick={onEdit}>
        <Pencil size={16} aria-hidden />
      </IconButton>
      <IconButton
        label={t('Take {name} out', { name })}
        aria-disabled={remove.isBusy || undefined}
        onClick={() => void change(remove)}
      >
        <Trash2 size={16} aria-hidden />
      </IconButton>
    </>
  );
  return (
    <Row
      title={<span className={styles.words}>{question}</span>}
      badges={
        <>
          {isDraft ? <Badge tone="warn">{t('To look at')}</Badge> : null}
          {tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </>
      }
      note={<CaseNote value={value} />}
      actions={isReadOnly ? undefined : acts}
    >
      <ErrorNote error={agree.error ?? remove.error} />
    </Row>
  );
}

/** What a good answer must be. */
function CaseNote({ value }: { readonly value: CaseRowFragment }) {
  const { t } = useText();
  const { expected, mustContain, mustNotContain, mustCite, messages } = value;
  return (
    <>
      {messages.length === 0 ? null : (
        <p>{t('{count, plural, one {# message before it} other {# messages before it}}', { count: messages.length })}</p>
      )}
      {expected === null ? null : <p>{t('Good answer: {text}', { text: expected.slice(0, 300) })}</p>}
      {mustContain.length === 0 ? null : <p>{t('Says: {facts}', { facts: mustContain.join(' · ') })}</p>}
      {mustNotContain.length === 0 ? null : <p>{t('Does not say: {facts}', { facts: mustNotContain.join(' · ') })}</p>}
      {mustCite.length === 0 ? null : <p>{t('Cites: {documents}', { documents: mustCite.join(' · ') })}</p>}
    </>
  );
}
