import { type GraphQLInterfaceType, type GraphQLObjectType, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import type { Scope } from '../../../entities/people/caller.ts';
import { hasMembers } from '../../../lib/json/json.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface ObjectTypeOptions {
      /** Every type says who may see its objects; the schema does not build without it. Connections and edges follow their nodes. */
      access?: TypeAccess;
    }
    export interface InterfaceTypeOptions {
      access?: TypeAccess;
    }
  }
}

/** Who may see the objects of a type. */
export interface TypeAccess {
  /**
   * The scope that reads objects of the type directly. A field that leads here from another noun needs it too, so that a key sees through nesting only
   * what it sees directly. Null: a key of any scope may see them.
   */
  readonly scope: Scope | null;
}

/** What a type says of itself; a connection and its edges say what their nodes do. */
export function findAccess(type: GraphQLObjectType | GraphQLInterfaceType): TypeAccess | undefined {
  const { pothosOptions } = type.extensions;
  if (hasMembers(pothosOptions) && isTypeAccess(pothosOptions.access)) return pothosOptions.access;
  const { nodes, node } = type.getFields();
  const item = type.name.endsWith('Connection') ? nodes : type.name.endsWith('Edge') ? node : undefined;
  const itemType = item === undefined ? undefined : getNamedType(item.type);
  return isObjectType(itemType) || isInterfaceType(itemType) ? findAccess(itemType) : undefined;
}

function isTypeAccess(value: unknown): value is TypeAccess {
  return hasMembers(value) && (value.scope === null || typeof value.scope === 'string');
}
