import { lexicalReasons } from '../../entities/knowledge/retrieval.ts';
import { createEnum, ofFormat, textOnRest } from '../ground/types/enums.ts';

const modes = { hybrid: 'By words and by meaning.', lexical: 'By words alone.' };
export const RetrievalModeType = createEnum('RetrievalMode', 'How knowledge was searched.', ['hybrid', 'lexical'], modes, {
  ...ofFormat,
  ...textOnRest,
});

export const LexicalReasonType = createEnum(
  'LexicalReason',
  'Why meaning took no part in a search although EMBEDDING_MODEL is set.',
  lexicalReasons,
  {
    no_extension: 'The database has no extension `vector`.',
    not_ready: 'The vectors of the sources are not complete yet.',
    model_changed: 'The vectors are of another model than EMBEDDING_MODEL, and that model cannot be asked.',
    quota: 'The organization has no data tokens left for the vector of the question.',
    timeout: 'The provider took too long.',
    provider: 'The provider failed or refused.',
  },
  { ...ofFormat, ...textOnRest },
);

/** The reason of a search in a stored run; null also for one that this version does not know. */
export function storedLexicalReason({ reason }: { readonly reason: string | null }): (typeof lexicalReasons)[number] | null {
  return lexicalReasons.find((knownReason) => knownReason === reason) ?? null;
}
