import { isObject } from '../../../lib/json/json.ts';
import { type Budget, CheckLimitError, createBudget, depthMax } from './check-budget.ts';
import { checkScalars, type SchemaFault } from './check-scalars.ts';
import { compileLinearPattern, type LinearPattern, PatternError } from './linear-pattern.ts';
import { resolveReference } from './references.ts';

type Schema = Readonly<Record<string, unknown>>;

export type SchemaCheck = (value: unknown) => SchemaFault | undefined;

/**
 * Reads a JSON Schema as data, over and over, and never makes code of it: whoever wrote it may be a stranger. Local references may lead back to
 * themselves; the work of one check is bounded, and one that would take more is a fault. Keywords that are not known here, remote
 * references, and patterns that take more than linear time say nothing.
 *
 * Cost: well below a millisecond for a value of a few kilobytes; a few hundred at the very most.
 */
export function createSchemaCheck(schema: Schema | boolean): SchemaCheck {
  return (value) => {
    try {
      return new Checker(schema).check(schema, value, 0);
    } catch (error) {
      if (error instanceof CheckLimitError) return { value: '', schema: '', message: error.message };
      throw error;
    }
  };
}

class Checker {
  readonly #root: Schema | boolean;
  /** Not kept for the next check: a compiled pattern remembers what it met, up to 8 MB. */
  readonly #patterns = new Map<string, LinearPattern | undefined>();
  readonly #budget: Budget = createBudget();

  constructor(root: Schema | boolean) {
    this.#root = root;
  }

  check(schema: unknown, value: unknown, depth: number): SchemaFault | undefined {
    this.#budget.spend(1);
    if (depth > depthMax) throw new CheckLimitError(`is nested too deep to be checked: ${depthMax} levels at most`);
    if (schema === false) return fault('', 'must not be there');
    if (!isObject(schema)) return undefined;
    if (value === null && schema.nullable === true) return undefined;
    return (
      this.#reference(schema, value, depth) ??
      checkScalars(schema, value, this.#budget, (source) => this.#pattern(source)) ??
      (isObject(value) ? this.#object(schema, value, depth) : undefined) ??
      (Array.isArray(value) ? this.#array(schema, value, depth) : undefined) ??
      this.#combined(schema, value, depth)
    );
  }

  #reference({ $ref }: Schema, value: unknown, depth: number): SchemaFault | undefined {
    if (typeof $ref !== 'string') return undefined;
    this.#budget.spend($ref.length);
    const target = resolveReference(this.#root, $ref);
    return target === undefined ? undefined : within(this.check(target, value, depth + 1), '', '.$ref');
  }

  #object(schema: Schema, value: Schema, depth: number): SchemaFault | undefined {
    const names = Object.keys(value);
    this.#budget.spend(names.length);
    const { required, propertyNames, dependentRequired, dependentSchemas } = schema;
    this.#budget.spend(listIn(required).length);
    const missing = namesIn(required).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return fault('.required', `must have required property '${missing.slice(0, 100)}'`);
    if (typeof schema.minProperties === 'number' && names.length < schema.minProperties)
      return fault('.minProperties', `must NOT have fewer than ${schema.minProperties} properties`);
    if (typeof schema.maxProperties === 'number' && names.length > schema.maxProperties)
      return fault('.maxProperties', `must NOT have more than ${schema.maxProperties} properties`);
    for (const name of names) {
      const propertyFault = this.#property(schema, name, value[name], depth);
      if (propertyFault !== undefined) return propertyFault;
      const odd = propertyNames === undefined ? undefined : this.check(propertyNames, name, depth + 1);
      if (odd !== undefined) return within(odd, keyPath(name), '.propertyNames');
      const more = isObject(dependentRequired) ? namesIn(own(dependentRequired, name)) : [];
      const lacking = more.find((other) => !Object.hasOwn(value, other));
      if (lacking !== undefined) return fault('.dependentRequired', `must have required property '${lacking.slice(0, 100)}'`);
      const whole = isObject(dependentSchemas) ? own(dependentSchemas, name) : undefined;
      const other = whole === undefined ? undefined : this.check(whole, value, depth + 1);
      if (other !== undefined) return within(other, '', `.dependentSchemas${keyPath(name)}`);
    }
    return undefined;
  }

  #property(schema: Schema, name: string, value: unknown, depth: number): SchemaFault | undefined {
    const { properties, patternProperties, additionalProperties } = schema;
    let isKnown = false;
    const apply = (subschema: unknown, place: string) => within(this.check(subschema, value, depth + 1), keyPath(name), place);
    if (isObject(properties) && Object.hasOwn(properties, name)) {
      isKnown = true;
      const propertyFault = apply(properties[name], `.properties${keyPath(name)}`);
      if (propertyFault !== undefined) return propertyFault;
    }
    for (const source of isObject(patternProperties) ? Object.keys(patternProperties) : []) {
      this.#budget.spend(1);
      const pattern = this.#pattern(source);
      // A name that nobody can judge is not called unknown.
      if (pattern === undefined) isKnown = true;
      if (pattern === undefined || !this.#test(pattern, name)) continue;
      isKnown = true;
      const patternFault = apply((patternProperties as Schema)[source], `.patternProperties${keyPath(source)}`);
      if (patternFault !== undefined) return patternFault;
    }
    if (isKnown || additionalProperties === undefined) return undefined;
    if (additionalProperties === false) {
      return fault('.additionalProperties', `must NOT have the additional property '${name.slice(0, 100)}'`);
    }
    return apply(additionalProperties, '.additionalProperties');
  }

  #array(schema: Schema, value: readonly unknown[], depth: number): SchemaFault | undefined {
    if (typeof schema.minItems === 'number' && value.length < schema.minItems)
      return fault('.minItems', `must NOT have fewer than ${schema.minItems} items`);
    if (typeof schema.maxItems === 'number' && value.length > schema.maxItems)
      return fault('.maxItems', `must NOT have more than ${schema.maxItems} items`);
    // The older form has the first items in `items`.
    const isOld = Array.isArray(schema.items);
    const first: readonly unknown[] = isOld ? (schema.items as unknown[]) : listIn(schema.prefixItems);
    const rest = isOld ? schema.additionalItems : schema.items;
    for (const [index, item] of value.entries()) {
      const subschema = index < first.length ? first[index] : rest;
      if (subschema === undefined) continue;
      const place =
        index >= first.length ? (isOld ? '.additionalItems' : '.items') : `.${isOld ? 'items' : 'prefixItems'}[${index}]`;
      const itemFault = within(this.check(subschema, item, depth + 1), `[${index}]`, place);
      if (itemFault !== undefined) return itemFault;
    }
    return this.#distinct(schema, value) ?? this.#contained(schema, value, depth);
  }

  #distinct({ uniqueItems }: Schema, value: readonly unknown[]): SchemaFault | undefined {
    if (uniqueItems !== true) return undefined;
    const distinctValues = new Set(value.map((item) => this.#budget.canonical(item)));
    return distinctValues.size === value.length ? undefined : fault('.uniqueItems', 'must NOT have duplicate items');
  }

  #contained({ contains, minContains, maxContains }: Schema, value: readonly unknown[], depth: number) {
    if (contains === undefined) return undefined;
    const count = value.filter((item) => this.check(contains, item, depth + 1) === undefined).length;
    const least = typeof minContains === 'number' ? minContains : 1;
    const most = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
    return count >= least && count <= most
      ? undefined
      : fault('.contains', `must contain ${most < count ? `at most ${most}` : `at least ${least}`} valid item(s)`);
  }

  #combined(schema: Schema, value: unknown, depth: number): SchemaFault | undefined {
    const fits = (subschema: unknown) => this.check(subschema, value, depth + 1);
    for (const [index, one] of listIn(schema.allOf).entries()) {
      const branchFault = within(fits(one), '', `.allOf[${index}]`);
      if (branchFault !== undefined) return branchFault;
    }
    const alternativeFault = this.#alternatives(schema, 'anyOf', fits) ?? this.#alternatives(schema, 'oneOf', fits);
    if (alternativeFault !== undefined) return alternativeFault;
    if (schema.not !== undefined && fits(schema.not) === undefined) return fault('.not', 'must NOT be valid');
    if (schema.if === undefined) return undefined;
    const branch = fits(schema.if) === undefined ? 'then' : 'else';
    return schema[branch] === undefined ? undefined : within(fits(schema[branch]), '', `.${branch}`);
  }

  /** Each is tried once. When none fits, the fault is of the one that came furthest. */
  #alternatives(schema: Schema, name: 'anyOf' | 'oneOf', fits: (subschema: unknown) => SchemaFault | undefined) {
    const list = listIn(schema[name]);
    if (list.length === 0) return undefined;
    let fitting = 0;
    let furthest: SchemaFault | undefined;
    for (const [index, one] of list.entries()) {
      const optionFault = within(fits(one), '', `.${name}[${index}]`);
      if (optionFault === undefined) fitting += 1;
      else if (optionFault.value.length > (furthest?.value.length ?? 0)) furthest = optionFault;
      if (fitting > (name === 'anyOf' ? 0 : 1)) break;
    }
    if (fitting === 0) return furthest ?? fault(`.${name}`, `must match a schema in ${name}`);
    return fitting === 1 ? undefined : fault('.oneOf', 'must match exactly one schema in oneOf');
  }

  #pattern(source: string): LinearPattern | undefined {
    if (this.#patterns.has(source)) return this.#patterns.get(source);
    let linearPattern: LinearPattern | undefined;
    try {
      linearPattern = compileLinearPattern(source, this.#budget.spend);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
    }
    this.#patterns.set(source, linearPattern);
    return linearPattern;
  }

  #test(pattern: LinearPattern, text: string): boolean {
    this.#budget.spend(pattern.states * (text.length + 1));
    return pattern.test(text);
  }
}

function fault(schema: string, message: string): SchemaFault {
  return { value: '', schema, message };
}

function within(fault: SchemaFault | undefined, value: string, schema: string): SchemaFault | undefined {
  return fault === undefined ? undefined : { ...fault, value: value + fault.value, schema: schema + fault.schema };
}

const shownMax = 60;

function keyPath(name: string): string {
  return /^[A-Za-z_$][\w$-]{0,59}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, shownMax))}]`;
}

function own(object: Schema, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function namesIn(input: unknown): readonly string[] {
  return listIn(input).filter((name) => typeof name === 'string');
}

function listIn(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? input : [];
}
