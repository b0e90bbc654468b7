import { FileLink, MessageImage } from '../../parts/files/links.tsx';
import { CitationsContext, useLinkedCitations } from '../../parts/markdown/citations.tsx';
import { Markdown } from '../../parts/markdown/Markdown.tsx';
import { useText } from '../../text/text.ts';
import { Avatar } from '../../ui/small.tsx';
import type { SharedChatMessageFragment } from './documents.ts';
import styles from './shared.module.css';
import type { SharedView } from './visit.ts';

/** What was said, in order. */
export function SharedMessages({ view: { messages, agentName, agentPictureUrl } }: { readonly view: SharedView }) {
  const { t } = useText();
  return (
    <section className={styles.messages} aria-label={t('Transcript')}>
      {messages.map((message) =>
        message.role === 'USER' ? (
          <article key={message.id} className={styles.question} aria-label={t('Question')} dir="auto">
            <p>{message.content}</p>
            <Attached message={message} />
          </article>
        ) : (
          <article key={message.id} className={styles.answer} aria-label={agentName}>
            <Avatar name={agentName} pictureUrl={agentPictureUrl} />
            <div>
              <h2>{agentName}</h2>
              <AnswerText message={message} />
              <Attached message={message} />
              <Sources message={message} />
            </div>
          </article>
        ),
      )}
    </section>
  );
}

function AnswerText({ message: { content, citations } }: { readonly message: SharedChatMessageFragment }) {
  return (
    <CitationsContext value={useLinkedCitations(citations)}>
      <Markdown text={content} isGrowing={false} />
    </CitationsContext>
  );
}

/** The sources that the reader may open, and how many are hidden. */
function Sources({ message: { citations, hiddenCitationCount } }: { readonly message: SharedChatMessageFragment }) {
  const { t } = useText();
  if (citations.length === 0 && hiddenCitationCount === 0) return null;
  const shownCitations = [...new Map(citations.map((citation) => [citation.index, citation])).values()];
  return (
    <div className={styles.sources}>
      {shownCitations.length === 0 ? null : (
        <ul aria-label={t('Sources')}>
          {shownCitations.map(({ index, name, url }) => (
            <li key={index}>
              <a href={url} target="_blank" rel="noopener noreferrer">
                {index} · {name}
              </a>
            </li>
          ))}
        </ul>
      )}
      {hiddenCitationCount === 0 ? null : (
        <p className={styles.quiet}>
          {t('{count, plural, one {# source is} other {# sources are}} hidden from you: you may not open the documents.', {
            count: hiddenCitationCount,
          })}
        </p>
      )}
    </div>
  );
}

function Attached({ message: { files, images, hiddenFileCount } }: { readonly message: SharedChatMessageFragment }) {
  const { t } = useText();
  if (files.length === 0 && images.length === 0 && hiddenFileCount === 0) return null;
  return (
    <div className={styles.files}>
      {images.map((url) => (
        <MessageImage key={url} url={url} />
      ))}
      {files.map((file) => (
        <FileLink key={file.url} file={file} />
      ))}
      {hiddenFileCount === 0 ? null : (
        <p className={styles.quiet}>
          {t('{count, plural, one {# file is} other {# files are}} gone.', { count: hiddenFileCount })}
        </p>
      )}
    </div>
  );
}
