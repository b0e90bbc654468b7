/** Documents whose text the service writes as Markdown when it reads them. */
const markdownTypes =
  /markdown|html|wordprocessingml|presentationml|spreadsheetml|ms-excel|opendocument\.spreadsheet|rfc822|epub|(?:rss|atom)\+xml/i;

/** Whether the text that was read out of a document of a type is Markdown; other texts are shown as they are. */
export function isMarkdown(mimeType: string | null | undefined): boolean {
  return mimeType != null && markdownTypes.test(mimeType);
}
