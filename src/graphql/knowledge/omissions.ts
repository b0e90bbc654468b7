import { type Omission, omissionKinds, omissionText } from '../../entities/knowledge/omission.ts';
import { builder } from '../ground/builder/builder.ts';
import { createEnum } from '../ground/types/enums.ts';

const OmissionKindType = createEnum('OmissionKind', 'What the text of a document leaves out.', omissionKinds, {
  PAGES_WITHOUT_TEXT: 'Pages in which no text was found, such as scans.',
  HIDDEN_PARTS: 'Parts that the document hides from its readers.',
  HIDDEN_SHEETS: 'Hidden sheets of a workbook.',
  HIDDEN_SLIDES: 'Hidden slides of a presentation.',
  CHARTS: 'Charts.',
  FORMULAS: 'Formulas of a workbook whose results the program that saved it did not store.',
  ATTACHMENTS:
    'Attachments of a mail, and documents that a document includes, that cannot be read or are beyond the number that is read.',
  CHAPTERS: 'Chapters of a book that are missing or cannot be read.',
});

export const OmissionType = builder.objectRef<Omission>('Omission').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A kind of content that the text of a document leaves out.',
  fields: (t) => ({
    kind: t.field({ type: OmissionKindType, description: 'What is left out.', resolve: ({ kind }) => kind }),
    count: t.exposeInt('count', { description: 'How many of them are left out.' }),
    total: t.exposeInt('total', {
      nullable: true,
      description: 'How many of them the document has; null where only those left out are counted.',
    }),
    text: t.string({ description: 'The same in words, such as `3 of 40 pages have no text`.', resolve: omissionText }),
  }),
});
