import { ExternalLink, FileText } from 'lucide-react';
import { run } from '../../../graphql/client.ts';
import { useMorePages, useMutate, usePage } from '../../../graphql/hooks.ts';
import type { Mark } from '../../../parts/markdown/marks.ts';
import { ReadText } from '../../../parts/markdown/ReadText.tsx';
import { useReadingFailures } from '../../../parts/reading-failures.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';
import { Switch } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { ChangeItemDocument, type ItemEntryFragment, ItemTextDocument, type ItemTextQuery } from '../documents.ts';
import styles from './source.module.css';

const noMarks: readonly Mark[] = [];

/** The text that was read out of a document, at the side. */
export function ItemDialog({
  item,
  canEdit,
  onClose,
}: {
  readonly item: ItemEntryFragment | undefined;
  readonly canEdit: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={item?.name ?? ''} place="side" size="wide" isOpen={item !== undefined} onClose={onClose}>
      {item === undefined ? null : <ItemContent key={item.id} item={item} canEdit={canEdit} />}
    </Dialog>
  );
}

function ItemContent({ item, canEdit }: { readonly item: ItemEntryFragment; readonly canEdit: boolean }) {
  const { t } = useText();
  const failure = useReadingFailures()(item);
  const { id, omissions, originalContent } = item;
  const { data, error, isLoading, reload } = usePage(ItemTextDocument, { id });
  const first = data?.knowledgeItem?.passages;
  const numbered = first === undefined ? undefined : withIds(first);
  const pages = useMorePages(numbered, async (after) => {
    const page = (await run(ItemTextDocument, { id, after })).knowledgeItem?.passages;
    return page === undefined ? undefined : withIds(page);
  });
  const change = useMutate(ChangeItemDocument);
  const cite = data?.knowledgeItem?.cite ?? item.cite;
  return (
    <>
      {failure === undefined ? null : <Note tone="warn">{failure}</Note>}
      {omissions.length === 0 ? null : (
        <Note tone="warn">{t('Not in the text: {omissions}.', { omissions: omissions.map(({ text }) => text).join('; ') })}</Note>
      )}
      <div className={styles.itemActions}>
        <ButtonLink size="small" icon={<FileText size={15} aria-hidden />} href={`/documents/${id}`}>
          {t('Open the document')}
        </ButtonLink>
        {originalContent.contentUrl !== null && isElsewhere(originalContent.contentUrl) ? (
          <a href={originalContent.contentUrl} target="_blank" rel="noopener noreferrer">
            <ExternalLink size={15} aria-hidden /> {new URL(originalContent.contentUrl).host}
          </a>
        ) : null}
      </div>
      {canEdit ? (
        <Switch label={t('Answers may cite it')} isOn={cite} onChange={(isOn) => void change.run({ id, cite: isOn })} />
      ) : null}
      <ErrorNote error={error ?? change.error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      <h3>{t('The text that was read')}</h3>
      {data !== undefined && pages.nodes.length === 0 ? <p className={styles.quiet}>{t('There is none.')}</p> : null}
      {pages.nodes.length === 0 ? null : (
        <div className={styles.text}>
          <ReadText
            text={pages.nodes.map(({ text }) => text).join('')}
            mimeType={originalContent.mimeType}
            marks={noMarks}
            headingLevel={4}
          />
        </div>
      )}
      <ShowMore pages={pages} />
    </>
  );
}

function isElsewhere(url: string): boolean {
  return /^https?:/.test(url) && !/\/api\/v1\/data-sources\/\w+\/knowledge\//.test(url);
}

type Passages = NonNullable<ItemTextQuery['knowledgeItem']>['passages'];

/** Passages are told apart by their place. */
function withIds(page: Passages) {
  return { ...page, nodes: page.nodes.map((passage) => ({ ...passage, id: String(passage.place) })) };
}
