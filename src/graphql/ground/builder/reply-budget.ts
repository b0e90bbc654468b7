import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { ReplyBudget } from '../../../http/reply/budget.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      replyBudget: ReplyBudgetPlugin<Types>;
    }
  }
}

/** Bytes of a member besides its name and its value: quotation marks, colon, comma. */
const memberBytes = 4;
/** Texts of scalars that have a form, such as times, are shorter. */
const formedTextMaxChars = 100;

type Resolver = GraphQLFieldResolver<unknown, { readonly replyBudget?: ReplyBudget }>;

/**
 * Counts what each field adds to the reply. Behind the end of the budget texts and lists are empty, so that nothing more is resolved: the reply is
 * refused as a whole.
 *
 * A field that throws rejects instead: graphql-js 16 forgets the pending items of a list when a later item throws, and their errors are then unhandled.
 */
export class ReplyBudgetPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { type, parentType }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (parentType === 'Subscription') return resolve;
    const itemType = type.kind === 'List' ? type.type : type;
    const isLeaf = itemType.kind === 'Scalar' || itemType.kind === 'Enum';
    const inner = resolve as Resolver;
    const countReply: Resolver = (source, args, context, info) => {
      const budget = context.replyBudget;
      try {
        const value: unknown = inner(source, args, context, info);
        if (budget === undefined) return value;
        const show = (replyValue: unknown) => within(budget, replyValue, String(info.path.key).length + memberBytes, isLeaf);
        return value instanceof Promise ? value.then(show) : show(value);
      } catch (error) {
        return Promise.reject(error);
      }
    };
    return countReply as GraphQLFieldResolver<unknown, Types['Context'], object>;
  }
}

function within(budget: ReplyBudget, value: unknown, nameBytes: number, isLeaf: boolean): unknown {
  if (typeof value === 'string') {
    return budget.spend(nameBytes + value.length) || value.length <= formedTextMaxChars ? value : '';
  }
  budget.spend(nameBytes);
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    if (isLeaf) budget.spendOn(value);
    return value;
  }
  return (isLeaf ? budget.spendOn(value) : budget.spend(value.length * 2)) ? value : [];
}

SchemaBuilder.registerPlugin('replyBudget', ReplyBudgetPlugin);
