import {
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  isEnumType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { Faults } from '../../domain/ground/faults.ts';
import { compileReader, type Reader } from '../../http/input/reader.ts';
import type { DeclaredRoute } from '../route.ts';

/** Reads one path or query parameter from its texts. A parameter that was given several times has several. */
export type ParameterReader = (texts: readonly string[], faults: Faults) => unknown;

/**
 * Compiles the reader of a parameter from the type of its variable: Int, Float, Boolean, enums, ids and strings; lists are separated
 * by commas or repeated. The faults are those of body members.
 */
export function compileParameter(name: string, type: GraphQLInputType): ParameterReader {
  const read = compileReader(type);
  const nullable = isNonNullType(type) ? type.ofType : type;
  const isList = isListType(nullable);
  const toValue = fromText(isListType(nullable) ? nullable.ofType : nullable);
  return (texts, faults) => {
    faults.path.push(name);
    const value = readTexts(texts, isList, toValue, read, faults);
    faults.path.pop();
    return value;
  };
}

function readTexts(
  texts: readonly string[],
  isList: boolean,
  toValue: (text: string) => unknown,
  read: Reader,
  faults: Faults,
): unknown {
  if (isList) {
    const items = texts.flatMap((text) => text.split(',')).map((text) => text.trim());
    return read(items.filter((text) => text !== '').map(toValue), faults);
  }
  const [text, second] = texts;
  if (second !== undefined) return faults.addHere('INVALID_VALUE', (path) => `${path} must be given once`);
  return read(toValue(text ?? ''), faults);
}

/** The JSON value that a text stands for. A text that is none stays a text, and the reader notes the fault. */
function fromText(type: GraphQLInputType): (text: string) => unknown {
  const innerType = isNonNullType(type) ? type.ofType : type;
  if (isEnumType(innerType)) return (text) => text;
  const name = 'name' in innerType ? innerType.name : '';
  if (name === 'Int') return (text) => (/^-?\d{1,30}$/.test(text) ? Number(text) : text);
  if (name === 'Float') return (text) => (/^-?\d{1,30}(\.\d{1,30})?$/.test(text) ? Number(text) : text);
  if (name === 'Boolean') return (text) => (text === 'true' ? true : text === 'false' ? false : text);
  return (text) => text;
}

/** The type of a parameter that is a term of the call, and no variable of the document. */
export function termType({ terms }: Pick<DeclaredRoute, 'terms'>, name: string): GraphQLInputType | undefined {
  const type = terms?.[name];
  return type === undefined || type === true ? undefined : termTypes[type];
}

const termTypes = {
  Boolean: GraphQLBoolean,
  Int: GraphQLInt,
  ID: GraphQLID,
  String: GraphQLString,
  'String!': new GraphQLNonNull(GraphQLString),
  'String[]': new GraphQLList(new GraphQLNonNull(GraphQLString)),
} as const;
