import {
  type KnowledgeSearchHit,
  type KnowledgeSearchInput,
  type KnowledgeSearchResult,
  searchKnowledge,
} from '../../domain/knowledge/search.ts';
import { toSourceType } from '../../entities/knowledge/data-source.ts';
import { type LegScores, type Retrieval, rerankReasons } from '../../entities/knowledge/retrieval.ts';
import {
  type MatchedWord,
  rewriteModes,
  type SearchedQuestion,
  wordOrigins,
} from '../../entities/knowledge/searched-question.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { describedOnRest } from '../ground/builder/rest-words.ts';
import { DataSourceRef, KnowledgeItemRef } from '../ground/refs.ts';
import { createEnum, ofFormat, textOnRest } from '../ground/types/enums.ts';
import { LexicalReasonType, RetrievalModeType } from './retrieval.ts';
import { DataSourceKind } from './sources.ts';

const asText = { ...ofFormat, ...textOnRest };

const RewriteType = createEnum(
  'SearchRewrite',
  'What became of a question before it was searched.',
  rewriteModes,
  {
    none: 'It was searched as it was asked.',
    context: 'It was searched with words of what was said before.',
    model: 'It was searched as a model wrote it out.',
  },
  asText,
);
const RerankReasonType = createEnum(
  'RerankReason',
  'Why nothing was reranked although RERANK_URL is set.',
  rerankReasons,
  {
    timeout: 'The reranker took too long.',
    provider: 'The reranker failed or refused.',
    quota: 'A budget in money does not admit it, or the reranker has no price.',
  },
  asText,
);
const WordOriginType = createEnum(
  'MatchedWordOrigin',
  'Why a word was searched.',
  wordOrigins,
  {
    question: 'It is a word of the question.',
    spelling: 'It is spelled like a word of the question that no passage contains.',
    context: 'It was said before.',
  },
  asText,
);

const SearchedQuestionType = builder.objectRef<SearchedQuestion>('SearchedQuestion').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A question as it was searched.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The question, or what a model made of it.' }),
    rewrite: t.expose('rewrite', {
      type: RewriteType,
      extensions: describedOnRest(
        '`none`: as it was asked; `context`: with words of what was said before; `model`: as a model wrote it out.',
      ),
      description: 'What became of the question before.',
    }),
    context: t.field({
      type: ['String'],
      description: 'What was said before and was searched too, the most important first.',
      resolve: ({ context }) => [...context],
    }),
  }),
});
const RetrievalType = builder.objectRef<Retrieval>('Retrieval').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'How a search was made.',
  fields: (t) => ({
    mode: t.expose('mode', {
      extensions: describedOnRest('`hybrid`: by words and by meaning; `lexical`: by words alone.'),
      type: RetrievalModeType,
      description: 'By words alone, or by meaning too.',
    }),
    reason: t.expose('reason', {
      type: LexicalReasonType,
      nullable: true,
      description: 'Why meaning took no part although EMBEDDING_MODEL is set; null otherwise.',
    }),
    isReranked: t.exposeBoolean('isReranked', { description: 'Whether a reranker ordered the passages.' }),
    rerankReason: t.expose('rerankReason', {
      type: RerankReasonType,
      nullable: true,
      description: 'Why nothing was reranked although RERANK_URL is set; null otherwise.',
    }),
  }),
});
const LegScoresType = builder.objectRef<LegScores>('LegScores').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What each way of searching says of a passage; null where it found nothing or was not used.',
  fields: (t) => ({
    lexical: t.exposeFloat('lexical', { nullable: true, description: 'By words: BM25, above 0.' }),
    vector: t.exposeFloat('vector', { nullable: true, description: 'By meaning: cosine similarity, -1 to 1.' }),
    rerank: t.exposeFloat('rerank', { nullable: true, description: 'As the reranker answered.' }),
  }),
});
const MatchedWordType = builder.objectRef<MatchedWord>('MatchedWord').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A word that a passage was found by.',
  fields: (t) => ({
    word: t.exposeString('word', { description: 'As it was asked, or its stem.' }),
    origin: t.expose('origin', {
      extensions: describedOnRest(
        '`question`: a word of the question; `meaning`: it means the same as one; `spelling`: it is spelled like one that no passage contains; `context`: it was said before.',
      ),
      type: WordOriginType,
      description: 'Why it was searched.',
    }),
    weight: t.exposeFloat('weight', { description: 'How much it counts in the question: more for a rare word.' }),
    score: t.exposeFloat('score', { description: "What it adds to the passage's lexical score." }),
  }),
});
const HitType = builder.objectRef<KnowledgeSearchHit>('KnowledgeSearchHit').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A passage that a search found, and why.',
  fields: (t) => ({
    passageId: t.string({
      extensions: describedOnRest('As citations have it.'),
      description: 'Names the passage, as citations do.',
      resolve: ({ passage }) => passage.chunkId,
    }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The source it is from.' }),
    source: t.field({
      type: DataSourceRef,
      nullable: true,
      description: 'That source; null when the caller may not read it.',
      resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'dataSource', dataSourceId),
    }),
    knowledgeItemId: t.id({ description: 'The item it is from.', resolve: ({ passage }) => passage.knowledgeItemId }),
    item: t.field({
      type: KnowledgeItemRef,
      nullable: true,
      description: 'That item; null when the caller may not read its source.',
      resolve: ({ passage }, _args, context) => loadNode(context, 'knowledgeItem', passage.knowledgeItemId),
    }),
    type: t.field({
      type: DataSourceKind,
      description: 'The type of the source.',
      resolve: ({ passage }) => toSourceType(passage.itemType),
    }),
    title: t.string({ description: 'Of the document.', resolve: ({ passage }) => passage.title }),
    headingPath: t.string({
      nullable: true,
      description: 'The headings above it; null for none.',
      resolve: ({ passage }) => blankAsNull(passage.headingPath),
    }),
    page: t.int({ nullable: true, description: 'The page it starts on.', resolve: ({ passage }) => passage.page }),
    charStart: t.int({
      description: "Where it starts in the item's extracted text, in UTF-16 code units.",
      resolve: ({ passage }) => passage.charStart,
    }),
    charEnd: t.int({ description: 'Where it ends.', resolve: ({ passage }) => passage.charEnd }),
    url: t.string({
      nullable: true,
      description: 'The address of the original, as citations have it; null without one.',
      resolve: ({ passage }) => blankAsNull(passage.url),
    }),
    mayCite: t.boolean({ description: 'Whether answers may cite it.', resolve: ({ passage }) => passage.mayCite }),
    text: t.string({ description: 'The passage.', resolve: ({ passage }) => passage.text }),
    score: t.float({ description: 'Higher is closer.', resolve: ({ passage }) => passage.score }),
    scores: t.field({
      type: LegScoresType,
      description: 'The scores of each way of searching.',
      resolve: ({ passage }) => passage.scores,
    }),
    words: t.field({
      type: [MatchedWordType],
      description: 'The words it was found by; those that add most first. Empty where meaning alone found it.',
      resolve: ({ words }) => [...words],
    }),
    previous: t.exposeString('previous', {
      nullable: true,
      description: 'The text before it in its item, with `neighbours`; null at the beginning.',
    }),
    next: t.exposeString('next', {
      nullable: true,
      description: 'The text behind it in its item, with `neighbours`; null at the end.',
    }),
  }),
});
const ResultType = builder.objectRef<KnowledgeSearchResult>('KnowledgeSearch').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What a search of knowledge found.',
  fields: (t) => ({
    query: t.field({
      type: SearchedQuestionType,
      description: 'The question as it was searched.',
      resolve: ({ query }) => query,
    }),
    retrieval: t.field({ type: RetrievalType, description: 'How it was searched.', resolve: ({ retrieval }) => retrieval }),
    hits: t.field({
      extensions: describedOnRest('The best first.'),
      type: [HitType],
      description: 'The best first; at most 50.',
      resolve: ({ hits }) => [...hits],
    }),
  }),
});

function blankAsNull(text: string): string | null {
  return text === '' ? null : text;
}

const roles = ['user', 'assistant'] as const;
const TurnRole = createEnum(
  'SearchTurnRole',
  'Who said something.',
  roles,
  { user: 'The person who asks.', assistant: 'The model that answered.' },
  ofFormat,
);
const TurnInput = builder.inputType('SearchTurnInput', {
  description: 'A message of a conversation.',
  fields: (t) => ({
    role: t.field({ type: TurnRole, required: true, description: 'Who said it.' }),
    text: t.string({ required: true, description: 'At most 20,000 characters.' }),
  }),
});
const FilterInput = builder.inputType('KnowledgeSearchFilterInput', {
  description: 'Which items are searched: those that fit every member.',
  fields: (t) => ({
    sourceTypes: t.field({ type: [DataSourceKind], required: false, description: 'Kinds of sources.' }),
    mimeTypes: t.stringList({
      required: false,
      description: 'Types of items such as `application/pdf`; `text/*` is every type that begins so. At most 20.',
    }),
    pathPrefix: t.string({
      required: false,
      description:
        "The beginning of an item's address (`https://example.com/docs/`), of its path in a repository (`docs/` or `acme/handbook/docs/`), or of its name.",
    }),
    updatedAfter: t.field({
      type: 'DateTime',
      required: false,
      description: 'Only items whose content was read, as new or as changed, after this time.',
    }),
  }),
});
const SearchInput = builder.inputType('KnowledgeSearchInput', {
  description: 'What to search for, and where: agentId or dataSourceIds is required.',
  fields: (t) => ({
    agentId: t.id({ required: false, description: 'Searches the sources of an agent that the caller may use.' }),
    dataSourceIds: t.idList({
      required: false,
      description: 'Searches these sources; with agentId, only these of the agent. At most 100.',
    }),
    query: t.string({ required: true, description: 'The question; at most 8,000 characters.' }),
    limit: t.int({ required: false, description: 'Most passages, from 1 to 50; default 10.' }),
    filters: t.field({ type: FilterInput, required: false, description: 'Which items are searched; default: all.' }),
    rewrite: t.field({
      type: [TurnInput],
      required: false,
      description:
        'What was said before, oldest first, at most 20 messages: a question that does not stand alone is searched with it, as in a chat.',
    }),
    neighbours: t.boolean({ required: false, description: 'Whether the texts around each passage are given; default false.' }),
  }),
});

builder.queryFields((t) => ({
  searchKnowledge: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: ResultType,
    description:
      'Searches knowledge as a run does, and says why each passage was found. Of sources of an agent that the caller may not read, it gives what answers may cite.',
    args: { input: t.arg({ type: SearchInput, description: 'What to search for.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => searchKnowledge(deps, caller, input as KnowledgeSearchInput, signal),
  }),
}));
