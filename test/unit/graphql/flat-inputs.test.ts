import SchemaBuilder from '@pothos/core';
import { type GraphQLInputObjectType, graphql, lexicographicSortSchema, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Faults } from '../../../src/domain/ground/faults.ts';
import {
  byName,
  documentPath,
  flatInput,
  flattener,
  held,
  itself,
  listOfOne,
  tagged,
  withFlatForms,
} from '../../../src/graphql/ground/builder/flat-inputs.ts';
import { camelNames } from '../../../src/http/input/names.ts';
import { compileReader } from '../../../src/http/input/reader.ts';
import { flatType } from '../../../src/lib/flat-inputs.ts';
import { body } from '../../../src/wire/ground/body.ts';

const builder = new SchemaBuilder<object>({} as never);

const Circle = builder.inputType('CircleInput', { fields: (t) => ({ radii: t.intList() }) });
const Square = builder.inputType('SquareInput', { fields: (t) => ({ width: t.int() }) });
const shapeBody = body('FlatShapeInput', 'A shape.', {
  ...{ type: z.string(), radii: z.array(z.int()).nullish(), width: z.int().nullish(), label: z.string().nullish() },
});
const Shape = flatInput(
  builder.inputType('ShapeInput', {
    isOneOf: true,
    fields: (t) => ({ circle: t.field({ type: Circle }), square: t.field({ type: Square }), label: t.string() }),
  }),
  { body: shapeBody, choices: { circle: tagged('type', 'CIRCLE'), square: held('data', { type: 'SQUARE' }), label: itself } },
);
const Header = builder.inputType('HeaderInput', {
  fields: (t) => ({ name: t.string({ required: true }), value: t.string({ required: true }) }),
});
const optionsBody = body('FlatOptionsInput', 'Options.', { heat: z.array(z.number()).nullish() });
const Options = flatInput(builder.inputType('OptionsInput', { fields: (t) => ({ heat: t.float() }) }), {
  body: optionsBody,
  members: { heat: listOfOne },
});
const drawingBody = body('FlatDrawingInput', 'A drawing.', {
  ...{ src: z.string().nullish(), shapes: z.array(shapeBody).nullish(), type: z.string().nullish() },
  options: optionsBody.nullish(),
});
const Drawing = flatInput(
  builder.inputType('DrawingInput', {
    fields: (t) => ({
      pictureUrl: t.string(),
      shapes: t.field({ type: [Shape] }),
      kind: t.field({ type: Shape }),
      options: t.field({ type: Options }),
      inner: t.field({ type: Inner }),
      low: t.int(),
      high: t.int(),
      headers: t.field({ type: [Header] }),
      marks: t.stringList(),
    }),
  }),
  {
    body: drawingBody,
    members: {
      ...{ pictureUrl: 'src', kind: { isSpread: true }, low: 'bounds.low', high: 'bounds.high', headers: byName },
      marks: { isSpread: true, ofNull: { isMarked: false }, flatten: () => ({ isMarked: true }), place: () => [] },
    },
  },
);
const Renamed = flatInput(builder.inputType('RenamedInput', { fields: (t) => ({ agentId: t.string() }) }), {
  members: { agentId: 'aiId' },
});
const Inner: ReturnType<typeof builder.inputRef<object>> = builder.inputRef<object>('InnerInput');
Inner.implement({ fields: (t) => ({ drawing: t.field({ type: Drawing as never }) }) as never });
let received: unknown;
builder.queryType({
  fields: (t) => ({
    draw: t.string({
      nullable: true,
      args: { input: t.arg({ type: Drawing }), renamed: t.arg({ type: Renamed }), first: t.arg.int() },
      resolve: () => null,
    }),
  }),
});
const schema = withFlatForms(builder.toSchema());
const draw = schema.getQueryType()?.getFields().draw;
if (draw === undefined) throw new Error('no field');
draw.resolve = (_root, args) => {
  received = flattener(draw)?.(args);
  return null;
};
const input = {
  pictureUrl: 'a',
  shapes: [{ circle: { radii: [1, 2] } }, { label: 'x' }],
  kind: { square: { width: 2 } },
  options: { heat: 0.5 },
  inner: { drawing: { pictureUrl: null, high: 3 } },
  low: 1,
  high: 2,
  headers: [
    { name: 'Accept', value: 'a' },
    { name: 'X-B', value: 'b' },
  ],
};

describe('an input with a flat form', () => {
  it('gets flat before a resolver sees it', async () => {
    const source = 'query ($input: DrawingInput) { draw(input: $input, renamed: { agentId: "1" }, first: 3) }';
    expect(await graphql({ schema, source, variableValues: { input } })).toEqual({ data: { draw: null } });
    expect(received).toEqual({
      first: 3,
      renamed: { aiId: '1' },
      input: {
        src: 'a',
        shapes: [{ type: 'CIRCLE', radii: [1, 2] }, 'x'],
        type: 'SQUARE',
        data: { width: 2 },
        options: { heat: [0.5] },
        inner: { drawing: { src: null, bounds: { high: 3 } } },
        bounds: { low: 1, high: 2 },
        headers: { Accept: 'a', 'X-B': 'b' },
      },
    });
  });

  it.each([
    ['null as it says', null, { isMarked: false }],
    ['a value', [], { isMarked: true }],
    ['nothing', undefined, {}],
  ])('makes several flat members of %s', async (_what, marks, flat) => {
    const source = 'query ($input: DrawingInput) { draw(input: $input) }';
    await graphql({ schema, source, variableValues: { input: { marks } } });
    expect(received).toEqual({ input: flat });
  });

  it.each([
    ['src', ['input', 'pictureUrl']],
    ['first', ['first']],
    ['shapes[0].radii[1]', ['input', 'shapes', 0, 'circle', 'radii', 1]],
    ['shapes[0].type', ['input', 'shapes', 0, 'circle']],
    ['shapes[7].type', ['input', 'shapes', 7]],
    ['shapes', ['input', 'shapes']],
    ['type', ['input', 'kind', 'square']],
    ['data.width', ['input', 'kind', 'square', 'width']],
    ['options.heat[0]', ['input', 'options', 'heat']],
    ['bounds.high', ['input', 'high']],
    ['bounds', ['input', 'high']],
    ['headers.X-B', ['input', 'headers', 1, 'value']],
    ['headers.X-C', ['input', 'headers']],
    ['renamed.aiId', ['renamed', 'agentId']],
    ['inner.drawing.src', ['input', 'inner', 'drawing', 'pictureUrl']],
  ])('has a place in the document for the fault %s', (path, place) => {
    expect(documentPath(draw, { input }, path)).toEqual(place);
  });

  it('is read in its flat form by REST, whose type is not in the schema', () => {
    expect(printSchema(lexicographicSortSchema(schema))).not.toMatch(/Flat|type: String!/);
    const faults = new Faults();
    const type = schema.getType('DrawingInput') as GraphQLInputObjectType;
    const flat = { src: 'a', shapes: [{ type: 'CIRCLE', radii: [1] }], options: { heat: [1] }, pictureUrl: 'b' };
    expect(compileReader(type, camelNames)(flat, faults)).toEqual({
      src: 'a',
      shapes: [{ type: 'CIRCLE', radii: [1] }],
      options: { heat: [1] },
    });
    compileReader(type, camelNames)({ shapes: [{}], options: { heat: 1 } }, faults);
    expect(faults.found.map(({ param }) => param)).toEqual(['options.heat', 'shapes[0].type']);
    expect(flatType(schema.getType('OptionsInput') as GraphQLInputObjectType).name).toBe('FlatOptionsInput');
  });
});
