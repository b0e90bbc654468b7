import { hitShapes } from '../../../wire/data-sources.ts';
import type { DeclaredRoute } from '../../route.ts';

export const searchRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'searchKnowledge',
    method: 'post',
    path: '/api/v1/search',
    summary: 'Search knowledge',
    description:
      'Finds passages as a run does, and says why each was found. `agentId` or `dataSourceIds` is required. Of sources of an agent that the caller may not read, it gives what answers may cite.',
    tag: 'Data sources',
    document: `query ($input: KnowledgeSearchInput!) {
      search: searchKnowledge(input: $input) {
        query { text rewrite context }
        retrieval { mode reason isReranked rerankReason }
        data: hits {
          id: passageId dataSourceId knowledgeItemId type title headingPath page charStart charEnd url mayCite text
          score scores { lexical vector rerank } words { word origin weight score } previous next
        }
      }
    }`,
    shapes: hitShapes,
    blankNull: {
      headingPath: 'The headings above it.',
      url: 'The address of the original, as citations have it.',
    },
    body: 'input',
    example: {
      agentId: 'ai_01jd0000000000000000000000',
      query: 'And how much does it cost?',
      limit: 5,
      filters: { mimeTypes: ['application/pdf', 'text/*'], pathPrefix: 'https://example.com/docs/' },
      rewrite: [
        { role: 'user', text: 'How do I become a member of the library?' },
        { role: 'assistant', text: 'Come to the desk with an identity card.' },
      ],
      neighbours: true,
    },
  },
];
