import type { SourceUrlUIPart, UIMessage } from 'ai';

/** One message, and below it what it cites. */
export function Message({ message: { role, parts } }: { readonly message: UIMessage }) {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const citations = citationsOf(text, parts);
  return (
    <article className={role}>
      <p>{text}</p>
      {citations.length > 0 && (
        <ul aria-label="Citations">
          {citations.map(([marker, { url, title }]) => (
            <li key={marker}>
              {marker} <a href={url}>{title ?? url}</a>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** The sources come in the order of the markers in the text: the first source belongs to the first `[n]`. A passage may be cited twice. */
function citationsOf(text: string, parts: UIMessage['parts']): [marker: string, source: SourceUrlUIPart][] {
  const markers = text.match(/\[\d+\]/g) ?? [];
  const sources = parts.filter((part) => part.type === 'source-url');
  return [...new Map(sources.map((source, index) => [markers[index] ?? '', source]))];
}
