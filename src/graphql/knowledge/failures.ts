import { knowledgeErrorCodes, vectorErrorCodes } from '../../entities/knowledge/failure.ts';
import { createEnum, textOnRest } from '../ground/types/enums.ts';

export const KnowledgeErrorCodeType = createEnum(
  'KnowledgeErrorCode',
  'Why a document, a source or a run of a source failed or was left out. The message beside it says what may help.',
  knowledgeErrorCodes,
  {
    AUTH: 'The other service refuses the connection: its owner has to connect again.',
    FORBIDDEN: 'The connected account may not read it.',
    NOT_FOUND: 'It is not there.',
    RATE_LIMITED: 'The other service was asked too often; it is tried again.',
    UNREACHABLE: 'The other service does not answer; it is tried again.',
    BAD_REPLY: 'The other service answered something that could not be read; it is tried again.',
    TOO_LARGE: 'It is larger than what is read.',
    UNSUPPORTED: 'Documents of this kind are not read.',
    NOINDEX: 'The site asks that its pages are not indexed.',
    ROBOTS: 'The site asks that its pages are not read.',
    NOTHING_LEFT: 'There is no document in it.',
    CONFIGURATION: 'A setting of the operator or of the source is missing or wrong.',
    BOUND_REACHED: 'It was read up to a limit of the source.',
    UNSUPPORTED_TYPE: 'Files of this type cannot be read.',
    NO_TEXT: 'There is no text in it.',
    ENCRYPTED: 'It is protected by a password.',
    CORRUPT: 'It is damaged, or not what its name says.',
    TIMEOUT: 'Reading it took too long.',
    MEMORY: 'Reading it took too much memory.',
    CRASHED: 'Reading it ended the process that reads files.',
    UNAVAILABLE: 'Files could not be read at that moment.',
    INTERRUPTED: 'The process that read it ended several times.',
    CONTENT_MISSING: 'Its stored content is gone.',
    FAILED: 'It failed; no reason is stored.',
    INTERNAL: 'Something went wrong on our side.',
  },
  textOnRest,
);

export const VectorErrorCodeType = createEnum(
  'VectorErrorCode',
  'Why no more vectors of a source are made now.',
  vectorErrorCodes,
  {
    LIMIT_REACHED: 'The organization has used up its data tokens.',
    BUDGET_REACHED: 'A budget is used up: they go on when it begins again, or has more room.',
    MODEL_WITHOUT_PRICE: 'A budget in money does not allow the embedding model, which has no price.',
    PROVIDER_UNAVAILABLE: 'The provider of the embedding model does not answer; it is tried again.',
    PROVIDER_REFUSED: 'The provider of the embedding model refuses.',
  },
  textOnRest,
);
