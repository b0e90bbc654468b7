import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { imagesMax } from '../../../entities/conversations/runs/tool.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { ImageModel } from '../../models/router.ts';
import { limitedText, readArguments, wrongArguments } from '../arguments.ts';

const promptMaxChars = 32_000;
const nameMaxChars = 200;

/** What a request or an agent fixes: the model cannot change it. */
export interface FixedOptions {
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly n?: number;
  readonly outputFormat?: string;
  readonly more: Readonly<Record<string, string | number>>;
  readonly mask?: WireObject;
  /** The id of a file of the caller. */
  readonly inputImage?: string;
}

/** A call of `generate_image`. */
export interface ImageCall {
  readonly prompt: string;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly n: number;
  /** The id or the name of a chat file; the id of a file of the caller where the request fixes it. */
  readonly inputImage?: string;
}

/** Members that go to the provider as they are. */
const passedOn = ['style', 'moderation', 'input_fidelity', 'output_compression'] as const;
/** Members of the common format that nothing here can honour. */
const unservedOptions = ['partial_images', 'model_configuration'] as const;
const choices = ['size', 'quality', 'background'] as const;
const backgrounds: readonly string[] = ['transparent', 'opaque', 'auto'];
const sizePattern = /^(auto|\d{2,5}x\d{2,5})$/;

/** The model that a request asks for, among those of IMAGE_MODEL; a bare name is enough when it is unique. */
export function findImageModel(wantedModel: unknown, models: readonly ImageModel[]): ImageModel | undefined {
  if (wantedModel === undefined) return models[0];
  const namedModels = models.filter(({ id, name }) => id === wantedModel || name === wantedModel);
  return namedModels.find(({ id }) => id === wantedModel) ?? (namedModels.length === 1 ? namedModels[0] : undefined);
}

/** As ToolKind.check says. */
export function checkOptions(
  options: WireObject,
  models: readonly ImageModel[],
  fault: (member: string, message: string) => void,
): void {
  if (models.length > 0 && findImageModel(options.model, models) === undefined) {
    fault('model', `must be one of ${models.map(({ id }) => id).join(', ')}`);
  }
  const { refusals } = findBounds(findImageModel(options.model, models));
  const isSize = typeof options.size !== 'string' || sizePattern.test(options.size);
  if (!isSize) fault('size', 'must be auto, or such as 1024x1024');
  for (const [member, message] of refusals(options)) if (member !== 'size' || isSize) fault(member, message);
  if (options.n !== undefined && !isCount(options.n)) fault('n', `must be a whole number from 1 to ${imagesMax}`);
  for (const member of unservedOptions) {
    if (options[member] !== undefined && options[member] !== 0) fault(member, 'cannot be served here: leave it out');
  }
  const mask = options.input_image_mask;
  if (!isObject(mask)) return;
  const { image_url: url, file_id: id } = mask;
  if ((typeof url === 'string') === (typeof id === 'string')) {
    fault('input_image_mask', 'must have either image_url, a data URL, or file_id, the id of a file of the chat');
  } else if (typeof url === 'string' && !/^data:image\/[\w.+-]+;base64,/.test(url)) {
    fault('input_image_mask', 'must have a data URL with an image in base64 as its image_url');
  }
}

export function fixedOptions(options: WireObject): FixedOptions {
  const text = (name: string) => (typeof options[name] === 'string' ? { [name]: options[name] } : {});
  const more = passedOn.flatMap((name) => {
    const value = options[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [];
  });
  return {
    ...text('size'),
    ...text('quality'),
    ...text('background'),
    ...(isCount(options.n) ? { n: options.n } : {}),
    ...(typeof options.output_format === 'string' ? { outputFormat: options.output_format } : {}),
    ...(typeof options.input_image === 'string' ? { inputImage: options.input_image } : {}),
    ...(isObject(options.input_image_mask) ? { mask: options.input_image_mask } : {}),
    more: Object.fromEntries(more),
  };
}

/** The options of the common format that a model's provider may not honour. */
const boundedOptions = ['size', 'quality', 'background', 'output_format', ...passedOn, 'input_image_mask'] as const;

/** What a model cannot do: options it refuses with their values, and arguments that its calls do not have. */
function findBounds(model: ImageModel | undefined) {
  const refuses = model?.bounds?.refuses ?? (() => undefined);
  return {
    refusals: (givenOptions: Readonly<Record<string, unknown>>) =>
      boundedOptions.flatMap((member) => {
        const message = refuses(member, givenOptions[member] ?? undefined);
        return message === undefined ? [] : [[member, message] as const];
      }),
    lacks: (name: string) =>
      name !== 'size' && (choices as readonly string[]).includes(name) && refuses(name, 'high') !== undefined,
  };
}

/** JSON Schema of the arguments: what the request fixes, and what the model cannot honour, is not among them. */
export function imageParameters(presetOptions: FixedOptions, model?: ImageModel): Readonly<Record<string, unknown>> {
  const all = {
    prompt: { type: 'string', description: 'What the image shows, in detail.' },
    size: { type: 'string', description: 'Width and height such as 1024x1024, 1536x1024 or 1024x1536, or auto.' },
    quality: { type: 'string', description: 'Such as low, medium, high or auto.' },
    background: { type: 'string', enum: backgrounds, description: 'Of the image.' },
    n: { type: 'integer', minimum: 1, maximum: imagesMax, description: 'How many images; default 1. Each costs.' },
    input_image: { type: 'string', description: 'The id or the name of a file of this chat: that image is changed.' },
  };
  const { lacks } = findBounds(model);
  const isFixed = (name: string) => name in presetOptions || (name === 'input_image' && presetOptions.inputImage !== undefined);
  const properties = Object.fromEntries(Object.entries(all).filter(([name]) => !isFixed(name) && !lacks(name)));
  return { type: 'object', properties, required: ['prompt'], additionalProperties: false };
}

/** Reads the arguments that the model wrote; what is fixed wins. @throws DomainError that tells the model what is wrong. */
export function readImageCall(args: string, presetOptions: FixedOptions, model?: ImageModel): ImageCall {
  const argumentValues = readArguments(args);
  const prompt = readText(argumentValues.prompt, 'prompt', promptMaxChars)?.trim() ?? '';
  if (prompt === '') throw wrongArguments('prompt must be a string that is not blank');
  const chosenOptions: Record<string, string> = {};
  for (const name of choices) {
    const value = presetOptions[name] ?? readText(argumentValues[name], name, nameMaxChars);
    if (value !== undefined) chosenOptions[name] = value;
  }
  if (chosenOptions.size !== undefined && !sizePattern.test(chosenOptions.size))
    throw wrongArguments('size must be auto, or such as 1024x1024');
  if (chosenOptions.background !== undefined && !backgrounds.includes(chosenOptions.background)) {
    throw wrongArguments(`background must be one of ${backgrounds.join(', ')}`);
  }
  // The options of an agent were perhaps written for another IMAGE_MODEL.
  const sentOptions = {
    ...chosenOptions,
    output_format: presetOptions.outputFormat,
    ...presetOptions.more,
    input_image_mask: presetOptions.mask,
  };
  const [refusal] = findBounds(model).refusals(sentOptions);
  if (refusal !== undefined) throw wrongArguments(refusal.join(' '));
  const n = presetOptions.n ?? argumentValues.n ?? 1;
  if (!isCount(n)) throw wrongArguments(`n must be a whole number from 1 to ${imagesMax}`);
  const inputImage = presetOptions.inputImage ?? readText(argumentValues.input_image, 'input_image', nameMaxChars);
  return { prompt, n, ...chosenOptions, ...(inputImage === undefined || inputImage === '' ? {} : { inputImage }) };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= imagesMax;
}

function readText(value: unknown, name: string, lengthMax: number): string | undefined {
  return value === undefined || value === null ? undefined : limitedText(value, name, lengthMax);
}
