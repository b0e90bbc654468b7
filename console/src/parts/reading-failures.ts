import { useText } from '../text/text.ts';

/** Why knowledge is not read, as the service tells it. */
interface ToldFailure {
  /** One of KnowledgeErrorCode or VectorErrorCode. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/**
 * Says why knowledge is not read. The English words are those of the service, which say what may help; in other languages the code is said, and
 * those words follow where the code alone says little.
 */
export function useReadingFailures(): (failure: ToldFailure) => string | undefined {
  const { t, language } = useText();
  const words: Readonly<Record<string, string>> = {
    AUTH: t('The other service refuses the connection: its owner has to connect again.'),
    BAD_REPLY: t('The other service answered something that could not be read. It is tried again.'),
    BOUND_REACHED: t('It was read up to a limit of the source.'),
    BUDGET_REACHED: t('A budget is used up. It goes on by itself when the budget begins again, or has more room.'),
    CONFIGURATION: t('A setting of the operator or of the source is missing or wrong.'),
    CONTENT_MISSING: t('Its stored content is gone.'),
    CORRUPT: t('It is damaged, or not what its name says.'),
    CRASHED: t('Reading it ended the process that reads files.'),
    ENCRYPTED: t('It is protected by a password.'),
    FAILED: t('It failed; no reason is known.'),
    FORBIDDEN: t('The connected account may not read it.'),
    INTERNAL: t('Something went wrong in the service.'),
    INTERRUPTED: t('Reading it was broken off several times.'),
    LIMIT_REACHED: t('The organization has used up its tokens for knowledge.'),
    MEMORY: t('Reading it took too much memory.'),
    MODEL_WITHOUT_PRICE: t('A budget in money does not allow the embedding model: it has no price.'),
    NOINDEX: t('The site asks that its pages are not indexed.'),
    NOTHING_LEFT: t('There is no document in it.'),
    NOT_FOUND: t('It is not there.'),
    NO_TEXT: t('There is no text in it.'),
    PROVIDER_REFUSED: t('The provider of the embedding model refuses.'),
    PROVIDER_UNAVAILABLE: t('The provider of the embedding model does not answer. It is tried again.'),
    RATE_LIMITED: t('The other service was asked too often. It is tried again.'),
    ROBOTS: t('The site asks that its pages are not read.'),
    TIMEOUT: t('Reading it took too long.'),
    TOO_LARGE: t('It is larger than what is read.'),
    UNAVAILABLE: t('Files could not be read at that moment.'),
    UNREACHABLE: t('The other service does not answer. It is tried again.'),
    UNSUPPORTED: t('Documents of this kind are not read.'),
    UNSUPPORTED_TYPE: t('Files of this type cannot be read.'),
  };
  return ({ errorCode, errorMessage }) => {
    const ofCode = errorCode === null ? undefined : words[errorCode];
    if (errorMessage === null || language === 'en' || ofCode === undefined) return errorMessage ?? ofCode;
    return unclear.includes(errorCode ?? '')
      ? t('{words} (The service says: “{message}”)', { words: ofCode, message: errorMessage })
      : ofCode;
  };
}

/** Codes whose message says more: which setting, which limit. */
const unclear = ['BOUND_REACHED', 'CONFIGURATION', 'FAILED', 'PROVIDER_REFUSED', 'UNSUPPORTED'];
