import type { AttributeFilter, AttributeValue } from '../../../entities/knowledge/vector-store.ts';
import { builder } from '../../ground/builder/builder.ts';
import { flatInput, held, itself } from '../../ground/builder/flat-inputs.ts';
import { createEnum } from '../../ground/types/enums.ts';

const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'] as const;
const OperatorType = createEnum('AttributeOperator', 'How an attribute is compared.', operators, {
  eq: 'It is equal.',
  ne: 'It is not equal.',
  gt: 'It is greater.',
  gte: 'It is greater or equal.',
  lt: 'It is less.',
  lte: 'It is less or equal.',
  in: 'It is one of the values.',
  nin: 'It is none of the values.',
});

const keyDescription =
  'An attribute of files in vector stores, or `data_source_id`, `source_type`, `mime_type`, `path`, `updated_at`.';

const AttributeComparisonInput = flatInput<object>(
  builder.inputType('AttributeComparisonInput', {
    description: 'Compares one attribute.',
    fields: (t) => ({
      key: t.string({ description: keyDescription }),
      operator: t.field({ type: OperatorType, description: 'How it is compared.' }),
      value: t.field({ type: 'PlainValue', required: false, description: 'What it is compared with, for all but IN and NIN.' }),
      values: t.field({ type: ['PlainValue'], required: false, description: 'For IN and NIN: at most 1,000 values.' }),
    }),
  }),
  { members: { operator: 'type', values: 'value' } },
);

/** Of items of knowledge, by their attributes. Its flat form is that of the common formats: `{type, key, value}`, `{type: 'and', filters}`. */
export const AttributeFilterInput = builder.inputRef<FilterShape>('AttributeFilterInput');
interface FilterShape {
  compare?: object | null | undefined;
  and?: FilterShape[] | null | undefined;
  or?: FilterShape[] | null | undefined;
}
builder.inputType(AttributeFilterInput, {
  description: 'Which items are searched, by their attributes: at most 500 comparisons, 8 levels deep.',
  isOneOf: true,
  fields: (t) => ({
    compare: t.field({ type: AttributeComparisonInput, required: false, description: 'Those with one attribute.' }),
    and: t.field({ type: [AttributeFilterInput], required: false, description: 'Those that all of these fit; at most 50.' }),
    or: t.field({ type: [AttributeFilterInput], required: false, description: 'Those that one of these fits; at most 50.' }),
  }),
});
flatInput(AttributeFilterInput, {
  choices: { compare: itself, and: held('filters', { type: 'and' }), or: held('filters', { type: 'or' }) },
});

type Comparison = Exclude<AttributeFilter, { readonly filters: unknown }>;
type Group = Extract<AttributeFilter, { readonly filters: unknown }>;

const AttributeComparisonType = builder.objectRef<Comparison>('AttributeComparison').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'Compares one attribute.',
  fields: (t) => ({
    key: t.exposeString('key', { description: keyDescription }),
    operator: t.expose('type', { type: OperatorType, description: 'How it is compared.' }),
    values: t.field({
      type: ['PlainValue'],
      description: 'What it is compared with: one value for all operators but IN and NIN.',
      resolve: (comparison): AttributeValue[] => ('values' in comparison ? [...comparison.values] : [comparison.value]),
    }),
  }),
});

const AttributeFilterGroupType = builder.objectRef<Group>('AttributeFilterGroup');

export const AttributeFilterType = builder.unionType('AttributeFilter', {
  description: 'Which items are searched, by their attributes.',
  types: [AttributeComparisonType, AttributeFilterGroupType],
  resolveType: (filter) => ('filters' in filter ? AttributeFilterGroupType : AttributeComparisonType),
});

AttributeFilterGroupType.implement({
  access: { scope: 'AGENTS:READ' },
  description: 'Several filters together.',
  fields: (t) => ({
    isAny: t.boolean({ description: 'Whether one of them is enough; else all must fit.', resolve: ({ type }) => type === 'or' }),
    filters: t.field({ type: [AttributeFilterType], description: 'The filters.', resolve: ({ filters }) => [...filters] }),
  }),
});
