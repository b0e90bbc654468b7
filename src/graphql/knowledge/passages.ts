import type { PassageText } from '../../domain/knowledge/passages.ts';
import { builder } from '../ground/builder/builder.ts';

export const PassageContentType = builder.objectRef<PassageText>('PassageContent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A cited passage as it stands in its document now, with the text around it.',
  fields: (t) => ({
    text: t.exposeString('text', {
      description: 'The passage; at most 8,000 characters. Empty when the document has become shorter.',
    }),
    before: t.exposeString('before', { description: 'The text before it; at most 800 characters.' }),
    after: t.exposeString('after', { description: 'The text behind it; at most 800 characters.' }),
    charStart: t.exposeInt('charStart', {
      description: 'Where `text` starts in the text of the document, in UTF-16 code units.',
    }),
    charEnd: t.exposeInt('charEnd', { description: 'Where `text` ends.' }),
    isCutBefore: t.exposeBoolean('isCutBefore', { description: 'Whether the document has more text before.' }),
    isCutAfter: t.exposeBoolean('isCutAfter', { description: 'Whether the document has more text behind.' }),
    isCurrent: t.exposeBoolean('isCurrent', {
      description: 'False when the document was read again since: the place may hold another text than the one that was cited.',
    }),
    page: t.exposeInt('page', { nullable: true, description: 'The page of the document; null where there are no pages.' }),
    headingPath: t.exposeString('headingPath', { description: 'The headings above it; empty when there are none.' }),
    mimeType: t.exposeString('mimeType', {
      nullable: true,
      description: 'What its document is, which tells how its text is written; null where nobody knows.',
    }),
  }),
});
