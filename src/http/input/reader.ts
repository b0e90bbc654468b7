import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import type { Faults } from '../../domain/ground/faults.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { flatType, restName } from '../../lib/flat-inputs.ts';
import { nounOfInput, nounOfValue } from '../../lib/input-values.ts';
import { isObject } from '../../lib/json/json.ts';
import { camelNames, eitherNames, enumTexts, listRestMembers, type MemberNames } from './names.ts';

export type Reader = (value: unknown, faults: Faults) => unknown;

/**
 * Compiles the reader of a JSON value from its input type. It makes what a resolver gets: inputs in their flat form, renamed and without unknown
 * members, with scalars parsed, enum values resolved and defaults filled in. It notes every fault with its code and path instead of stopping at the first;
 * with a fault, its result has no meaning. Absent members stay absent and null stays null: an absent member keeps a value, null clears it.
 */
export function compileReader(type: GraphQLInputType, names: MemberNames = camelNames, bounds: IntegerBounds = noBounds): Reader {
  return new ReaderCompiler(names, bounds).reader(type);
}

/** The bounds of whole numbers that may be beyond 32 bits, by the coordinate of their member: `CompletionInput.maxTokens`. */
export type IntegerBounds = ReadonlyMap<string, { readonly min: number; readonly max: number }>;
const noBounds: IntegerBounds = new Map();

class ReaderCompiler {
  readonly #names: MemberNames;
  readonly #bounds: IntegerBounds;
  /** Whether members that an input does not have are refused; else they are ignored. */
  readonly #isStrict: boolean;
  /** Input types may contain themselves. */
  readonly #objects = new Map<GraphQLInputObjectType, Reader>();

  constructor(names: MemberNames, bounds: IntegerBounds, isStrict = false) {
    this.#names = names;
    this.#bounds = bounds;
    this.#isStrict = isStrict;
  }

  reader(type: GraphQLInputType): Reader {
    if (isNonNullType(type)) {
      const inner = this.#present(type.ofType);
      const noun = nounOfInput(type.ofType, (inner) => (isEnumType(inner) ? [...enumTexts(inner).keys()] : []));
      return (value, faults) => {
        if (value !== null) return inner(value, faults);
        return faults.addHere('INVALID_TYPE', (path) => `${path} must be ${noun}, not null`);
      };
    }
    const inner = this.#present(type);
    return (value, faults) => (value === null ? null : inner(value, faults));
  }

  #present(type: GraphQLInputType): Reader {
    if (isListType(type)) return this.#list(type.ofType);
    if (isInputObjectType(type)) {
      const flat = flatType(type);
      return ofWireFormat(flat) ?? this.#inEitherSpelling(flat) ?? this.#object(flat);
    }
    if (isEnumType(type)) {
      const texts = enumTexts(type);
      const allowedTexts = [...texts.keys()].join(', ');
      return (value, faults) => {
        const knownValue = typeof value === 'string' ? texts.get(value) : undefined;
        if (knownValue !== undefined) return knownValue.value;
        const code = typeof value === 'string' ? 'INVALID_VALUE' : 'INVALID_TYPE';
        return faults.addHere(code, (path) => `${path} must be one of ${allowedTexts}`);
      };
    }
    if (isScalarType(type)) return this.#scalar(type);
    throw new Error(`not an input type: ${String(type)}`);
  }

  /** See `takesEitherSpelling` in wire/ground/body.ts. Routes that write snake_case take both spellings of everything. */
  #inEitherSpelling(type: GraphQLInputObjectType): Reader | undefined {
    if (this.#names !== camelNames || type.extensions.takesEitherSpelling !== true) return undefined;
    return new ReaderCompiler(eitherNames, this.#bounds, this.#isStrict).#object(type);
  }

  #scalar(type: GraphQLScalarType): Reader {
    const builtIn = builtInReaders[type.name];
    if (builtIn !== undefined) return builtIn;
    return (value, faults) => {
      try {
        return type.parseValue(value);
      } catch (error) {
        return addScalarFault(faults, type.extensions.asJson === undefined ? type.name : 'JSON', value, error);
      }
    };
  }

  #list(itemType: GraphQLInputType): Reader {
    const item = this.reader(itemType);
    return (value, faults) => {
      if (!Array.isArray(value)) {
        return faults.addHere('INVALID_TYPE', (path) => `${path} must be an array, not ${nounOfValue(value)}`);
      }
      const items: unknown[] = new Array(value.length);
      for (let index = 0; index < value.length && !faults.isFull; index += 1) {
        faults.path.push(index);
        items[index] = item(value[index], faults);
        faults.path.pop();
      }
      return items;
    };
  }

  #object(type: GraphQLInputObjectType): Reader {
    const { takenMembers } = type.extensions;
    const isStrict = type.extensions.ignoresUnknown !== true && (this.#isStrict || Array.isArray(takenMembers));
    if (isStrict !== this.#isStrict) return new ReaderCompiler(this.#names, this.#bounds, isStrict).#object(type);
    const knownReader = this.#objects.get(type);
    if (knownReader !== undefined) return (value, faults) => (this.#objects.get(type) ?? knownReader)(value, faults);
    const proxy: Reader = (value, faults) => this.#objects.get(type)?.(value, faults);
    this.#objects.set(type, proxy);
    const read = this.#objectReader(type);
    this.#objects.set(type, read);
    return read;
  }

  #objectReader(type: GraphQLInputObjectType): Reader {
    const members = listRestMembers(type).map((field) => {
      return {
        name: field.name,
        wire: this.#names.wire(field.name),
        other: this.#names.other(field.name),
        read: withBounds(this.reader(field.type), this.#bounds.get(`${restName(type)}.${field.name}`)),
        isRequired: isNonNullType(field.type) && field.defaultValue === undefined,
        default: field.defaultValue as unknown,
      };
    });
    const isOneOf = type.isOneOf;
    const names = members.map((member) => member.wire).join(', ');
    const takenNames = this.#isStrict ? namesTaken(type, members) : undefined;
    const { isOpen } = type.extensions;
    return (value, faults) => {
      if (!isObject(value)) return addNotObject(value, faults);
      const result: Record<string, unknown> = {};
      let givenCount = 0;
      for (const member of members) {
        let memberValue = readMember(value, member.wire);
        let writtenName = member.wire;
        if (memberValue === undefined && member.other !== undefined) {
          memberValue = readMember(value, member.other);
          if (memberValue !== undefined) writtenName = member.other;
        }
        if (memberValue === undefined) {
          if (member.isRequired) {
            faults.path.push(member.wire);
            faults.addHere('MISSING_REQUIRED_PARAMETER', (path) => `${path} is required`);
            faults.path.pop();
          } else if (member.default !== undefined) result[member.name] = member.default;
          continue;
        }
        givenCount += 1;
        faults.path.push(writtenName);
        result[member.name] = member.read(memberValue, faults);
        faults.path.pop();
      }
      if (takenNames !== undefined && !(typeof isOpen === 'function' && isOpen(value)))
        addUnknown(value, takenNames, names, faults);
      if (isOneOf && givenCount !== 1) {
        const code = givenCount === 0 ? 'MISSING_REQUIRED_PARAMETER' : 'MUTUALLY_EXCLUSIVE_PARAMETERS';
        faults.addHere(code, (path) => `${path} must hold exactly one of ${names}`);
      }
      return result;
    };
  }
}

/** A part of a wire format, whose schema reads it behind the reader. */
function ofWireFormat(type: GraphQLInputObjectType): Reader | undefined {
  const { asJson } = type.extensions;
  if (typeof asJson !== 'function') return undefined;
  return (value, faults) => {
    if (!isObject(value)) return addNotObject(value, faults);
    try {
      return asJson(value);
    } catch (error) {
      return addScalarFault(faults, 'JSON', value, error);
    }
  };
}

/** The names that an input takes in any spelling, and those of its reply, which are not used. */
function namesTaken(
  { extensions }: GraphQLInputObjectType,
  members: readonly { readonly wire: string; readonly other: string | undefined }[],
): ReadonlySet<string> {
  const ofReply = Array.isArray(extensions.takenMembers) ? extensions.takenMembers : [];
  return new Set([...members.flatMap(({ wire, other }) => (other === undefined ? [wire] : [wire, other])), ...ofReply]);
}

function addUnknown(value: object, takenNames: ReadonlySet<string>, names: string, faults: Faults): void {
  for (const [name, member] of Object.entries(value)) {
    if (takenNames.has(name) || member === null) continue;
    faults.path.push(name.slice(0, shownNameChars).toWellFormed());
    faults.addHere('UNSUPPORTED_VALUE', (path) => `${path} has no effect: members are ${names}`);
    faults.path.pop();
  }
}

const shownNameChars = 100;

function addNotObject(value: unknown, faults: Faults): undefined {
  return faults.addHere('INVALID_TYPE', (path) => `${path} must be an object, not ${nounOfValue(value)}`);
}

/** Own members only: a body without `constructor` must not seem to have one. */
function readMember(value: object, name: string): unknown {
  const member = (value as Readonly<Record<string, unknown>>)[name];
  // Most members are absent, and need no second look.
  return member !== undefined && name in Object.prototype && !Object.hasOwn(value, name) ? undefined : member;
}

/** Says the bounds of a member itself where a number does not fit into an Int. */
function withBounds(read: Reader, bounds: { readonly min: number; readonly max: number } | undefined): Reader {
  if (bounds === undefined) return read;
  return (value, faults) => {
    if (!Number.isInteger(value) || (Number(value) >= intMin && Number(value) <= intMax)) return read(value, faults);
    return faults.addHere('INVALID_VALUE', (path) => `${path} must be from ${bounds.min} to ${bounds.max}`);
  };
}

const intMax = 2 ** 31 - 1;
const intMin = -(2 ** 31);

const builtInReaders: Readonly<Record<string, Reader>> = {
  String: readString,
  ID: readString,
  Boolean: (value, faults) =>
    typeof value === 'boolean'
      ? value
      : faults.addHere('INVALID_TYPE', (path) => `${path} must be true or false, not ${nounOfValue(value)}`),
  Int: (value, faults) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      return faults.addHere('INVALID_TYPE', (path) => `${path} must be an integer, not ${nounOfValue(value)}`);
    }
    // Every member has bounds within 32 bits, which its wire schema or the domain tells: a number beyond is refused there, in the member's own words.
    if (value < intMin || value > intMax) {
      faults.addHereBesideOthers('INVALID_VALUE', (path) => `${path} must be from ${intMin} to ${intMax}`);
    }
    return Math.min(Math.max(value, intMin), intMax);
  },
  Float: (value, faults) => {
    if (typeof value !== 'number') {
      return faults.addHere('INVALID_TYPE', (path) => `${path} must be a number, not ${nounOfValue(value)}`);
    }
    // JSON.parse reads 1e999 as Infinity.
    return Number.isFinite(value) ? value : faults.addHere('INVALID_VALUE', (path) => `${path} is too large a number`);
  },
};

function readString(value: unknown, faults: Faults): unknown {
  if (typeof value !== 'string') {
    return faults.addHere('INVALID_TYPE', (path) => `${path} must be a string, not ${nounOfValue(value)}`);
  }
  // PostgreSQL's text takes neither.
  if (value.includes('\u0000') || !value.isWellFormed()) {
    return faults.addHere('INVALID_VALUE', (path) => `${path} must be well-formed text without NUL characters`);
  }
  return value;
}

function addScalarFault(faults: Faults, scalar: string, value: unknown, error: unknown): undefined {
  if (error instanceof DomainError) {
    const suffix = error.detail.param;
    if (suffix !== undefined) faults.path.push(suffix);
    faults.addHere(error.code, () => error.message);
    if (suffix !== undefined) faults.path.pop();
    return undefined;
  }
  const reason = error instanceof Error && error.name === 'GraphQLError' ? error.message : `not a valid ${scalar}`;
  const code = typeof value === 'string' || scalar === 'JSON' ? 'INVALID_VALUE' : 'INVALID_TYPE';
  return faults.addHere(code, (path) => `${path}: ${reason}`);
}
