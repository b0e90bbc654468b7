import {
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  type GraphQLSchema,
  isInputType,
  isScalarType,
} from 'graphql';
import { z } from 'zod';
import { bodies, memberTypes, unwrapped } from '../../../wire/ground/body.ts';

/**
 * The types by which bodies are read (`wire/ground/body.ts`), made of their schemas: compiled readers, the audit log and OpenAPI walk them. They do not
 * get into the schema.
 */
export class BodyTypes {
  readonly #schema: GraphQLSchema;
  readonly #types = new Map<z.ZodType, GraphQLInputObjectType>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Of a body and what is in it. @throws Error when a schema is no body. */
  type(body: z.ZodType): GraphQLInputObjectType {
    const form = bodies.get(body);
    if (form === undefined) throw new Error('a flat form must be a body of wire/ground/body.ts');
    const type = this.#types.get(body);
    if (type !== undefined) return type;
    const { name, description, asJson, replyMembers, ...rules } = form;
    const made = new GraphQLInputObjectType({
      name,
      description,
      extensions: {
        ...rules,
        asJson: asJson === 'taken' ? this.#named('JSON').extensions.asJson : asJson,
        replyType: replyMembers && new GraphQLInputObjectType({ name, fields: this.#fields(replyMembers) }),
      },
      // A body may hold itself.
      fields: () => this.#fields(body instanceof z.ZodObject ? body.shape : {}),
    });
    this.#types.set(body, made);
    return made;
  }

  #fields(shape: Readonly<Record<string, unknown>>): Record<string, GraphQLInputFieldConfig> {
    const members = Object.entries(shape).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(members.map(([member, schema]) => [member, this.#field(schema)]));
  }

  /** All that `type` made, once their members were read. */
  types(): readonly GraphQLInputObjectType[] {
    for (const type of this.#types.values()) type.getFields();
    return [...this.#types.values()];
  }

  #field(schema: unknown): GraphQLInputFieldConfig {
    const member = schema as z.ZodType;
    const inner = unwrapped(member);
    const { description = inner.description ?? null } = member;
    const type = this.#nullable(inner);
    if (member instanceof z.ZodDefault)
      return { type: new GraphQLNonNull(type), description, defaultValue: member.parse(undefined) };
    return { type: inner === member ? new GraphQLNonNull(type) : type, description };
  }

  #nullable(schema: z.ZodType): GraphQLInputType {
    const type = memberTypes.get(schema);
    if (typeof type === 'object') return this.type(type);
    const known = type === undefined ? undefined : this.#schema.getType(type);
    if (isInputType(known)) return known;
    if (bodies.get(schema) !== undefined) return this.type(schema);
    if (schema instanceof z.ZodArray) {
      const inner = unwrapped(schema.element as z.ZodType);
      const item = this.#nullable(inner);
      return new GraphQLList(inner === schema.element ? new GraphQLNonNull(item) : item);
    }
    return this.#named(scalarOf(schema));
  }

  #named(name: string): GraphQLScalarType {
    const type = this.#schema.getType(name);
    if (!isScalarType(type)) throw new Error(`the schema has no scalar ${name}`);
    return type;
  }
}

function scalarOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return 'String';
  if (schema instanceof z.ZodBoolean) return 'Boolean';
  if (schema instanceof z.ZodNumber) return schema.isInt ? 'Int' : 'Float';
  return 'JSON';
}
