import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { detectImageType } from '../../../lib/image-type.ts';
import type { Settings } from '../../../settings.ts';
import type { Egress } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import { type ImageReply, type InputImage, ModelError } from '../../models/port.ts';
import type { ImageModel } from '../../models/router.ts';
import type { Charge } from '../../plan/plan.ts';
import type { CallPass, ServerTool, ToolResult } from '../server-tool.ts';
import type { ToolKind, ToolRun } from '../tool-kind.ts';
import {
  checkOptions,
  type FixedOptions,
  findImageModel,
  fixedOptions,
  type ImageCall,
  imageParameters,
  readImageCall,
} from './options.ts';

/** Largest image that a provider may answer; CHAT_FILE_MAX_BYTES holds too. */
const imageMaxBytes = 20 * 1024 * 1024;

export interface ImageDeps {
  readonly settings: Pick<Settings, 'IMAGE_TIMEOUT_MS' | 'CHAT_FILE_MAX_BYTES' | 'EGRESS_FETCH_TIMEOUT_MS'>;
  /** The models of IMAGE_MODEL, the default first. */
  readonly models: readonly ImageModel[];
  readonly egress: Egress;
  /** A file of the user that a run is charged to; undefined for every other file. */
  ownFile(charge: Charge, id: string): Promise<OwnFile | undefined>;
}

export interface OwnFile {
  readonly filename: string;
  readonly sizeBytes: number;
  read(): Promise<Buffer>;
}

/** Tokens held and charged for an image whose provider counts none. */
const imageTokens = 1_000;
const charsPerToken = 3;

const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** `image_generation`: images by a model of IMAGE_MODEL, stored as files of the chat. */
export function createImageGenerationKind(deps: ImageDeps): ToolKind {
  const { models } = deps;
  const lack = { setting: 'IMAGE_MODEL', reason: 'no model for images is configured' };
  return {
    type: 'image_generation',
    isReadOnly: false,
    description: 'Makes and changes images, which become files of the chat.',
    unavailable: models.length === 0 ? lack : undefined,
    functionNames: () => ['generate_image'],
    check: (options, at, faults) =>
      checkOptions(options, models, (member, message) =>
        faults.add(`${at}.${member}`, `${at}.${member} ${message}`, 'INVALID_VALUE'),
      ),
    open({ options }, run) {
      const model = findImageModel(options.model, models);
      if (model === undefined) {
        const allowedModels = models.map(({ id }) => id).join(', ');
        throw new DomainError('INVALID_VALUE', `image_generation: model must be one of ${allowedModels}`, { param: 'tools' });
      }
      return { functions: [imageTool(deps, model, fixedOptions(options), run)] };
    },
  };
}

function imageTool(deps: ImageDeps, model: ImageModel, presetOptions: FixedOptions, run: ToolRun): ServerTool {
  return {
    definition: {
      name: 'generate_image',
      description:
        'Makes images from a description, or changes an image of this chat. The user sees them; do not repeat their addresses.',
      parameters: imageParameters(presetOptions, model),
    },
    hint: 'Making an image',
    // It costs money, and not every provider honours an idempotency key.
    ifLost: 'unknown',
    async run(args, _secrets, signal, _tell, pass) {
      const call = readImageCall(args, presetOptions, model);
      const loadInput = presetOptions.inputImage === undefined ? inputImage : ownImage;
      const images = call.inputImage === undefined ? [] : [await loadInput(deps, call.inputImage, run, signal)];
      const mask = presetOptions.mask === undefined ? undefined : await loadMask(deps, presetOptions.mask, run, signal);
      if (mask !== undefined && images.length === 0) {
        throw new DomainError('INVALID_VALUE', 'This request has a mask: input_image must name the image that is changed');
      }
      const reply = await made(
        deps,
        model,
        { call, fixed: presetOptions, images, ...(mask === undefined ? {} : { mask }) },
        run,
        signal,
        pass,
      );
      return stored(deps, reply, call, run, signal, pass);
    },
  };
}

interface Wanted {
  readonly call: ImageCall;
  readonly fixed: FixedOptions;
  readonly images: readonly InputImage[];
  readonly mask?: InputImage;
}

/** Sends the request, once. @throws DomainError for every failure of the provider. */
async function made(
  { settings }: ImageDeps,
  model: ImageModel,
  { call, fixed: presetOptions, images, mask }: Wanted,
  { charged: chargeCall }: ToolRun,
  signal: AbortSignal,
  pass: CallPass,
): Promise<ImageReply> {
  const { inputImage: _input, ...options } = call;
  const input = Math.ceil(call.prompt.length / charsPerToken) + images.length * imageTokens;
  const estimate = { inputTokens: input, outputTokens: call.n * imageTokens, cachedTokens: 0, reasoningTokens: 0 };
  const timeout = AbortSignal.timeout(settings.IMAGE_TIMEOUT_MS);
  const request = {
    ...options,
    ...{ model: model.name, images, more: presetOptions.more, idempotencyKey: pass.key },
    ...(presetOptions.outputFormat === undefined ? {} : { outputFormat: presetOptions.outputFormat }),
    ...(mask === undefined ? {} : { mask }),
  };
  try {
    return await chargeCall(model.id, { input, outputMax: call.n * imageTokens, images: call.n }, async () => {
      await pass.renew();
      const result = await model.makeImages(request, AbortSignal.any([signal, timeout]));
      return { result, usage: { ...(result.usage ?? estimate), images: result.images.length } };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw new DomainError('UPSTREAM_TIMEOUT', 'The model for images took too long');
    if (error instanceof ModelError) throw new DomainError(error.code, error.message);
    throw error;
  }
}

/** Checks and stores the images of a reply. @throws DomainError when one is none, is too large or cannot be fetched. */
async function stored(
  deps: ImageDeps,
  { images }: ImageReply,
  call: ImageCall,
  run: ToolRun,
  signal: AbortSignal,
  pass: CallPass,
): Promise<ToolResult> {
  const files: OutputFile[] = [];
  for (const image of images.slice(0, call.n)) {
    const bytes = Buffer.isBuffer(image) ? image : await fetched(deps, image.url, run, signal);
    const mimeType = requireImage(deps, bytes);
    const filename = `${makeStem(call.prompt)}${call.n === 1 ? '' : `-${files.length + 1}`}.${endings[mimeType]}`;
    files.push(await run.files.save({ filename, mimeType, bytes }, pass.key, signal));
  }
  const names = files.map(({ fileId, filename }) => (fileId === null ? filename : `${filename} (file ${fileId})`));
  return {
    text: `Made ${describeCount(files.length, call.n)}, shown to the user: ${names.join(', ')}`,
    files,
  };
}

function describeCount(madeCount: number, askedCount: number): string {
  if (madeCount < askedCount) return `${madeCount} of ${askedCount} images (the others failed)`;
  return madeCount === 1 ? 'an image' : `${madeCount} images`;
}

function requireImage({ settings }: ImageDeps, bytes: Buffer): string {
  const bytesMax = Math.min(imageMaxBytes, settings.CHAT_FILE_MAX_BYTES);
  if (bytes.length > bytesMax) {
    throw new DomainError(
      'REQUEST_TOO_LARGE',
      `The provider made an image of ${bytes.length} bytes; at most ${bytesMax} are kept`,
    );
  }
  const mimeType = detectImageType(bytes);
  if (mimeType === undefined) throw new DomainError('UPSTREAM_ERROR', 'The provider answered something that is no image');
  return mimeType;
}

/** Reads an image from the address that the provider names: an address of somebody else, so under the rules for those. */
async function fetched({ egress, settings }: ImageDeps, url: string, { plan }: ToolRun, signal: AbortSignal): Promise<Buffer> {
  const inline = /^data:image\/[\w.+-]+;base64,(.*)$/s.exec(url)?.[1];
  if (inline !== undefined) return Buffer.from(inline, 'base64');
  const bytesMax = Math.min(imageMaxBytes, settings.CHAT_FILE_MAX_BYTES);
  const request = { owner: plan.charge, url, bytesMax, timeoutMs: settings.EGRESS_FETCH_TIMEOUT_MS };
  try {
    const { status, body } = await egress.send(request, signal);
    if (status !== 200) throw new DomainError('UPSTREAM_ERROR', `The address of the image answered ${status}`);
    return body;
  } catch (error) {
    if (error instanceof EgressError) throw new DomainError('UPSTREAM_ERROR', `The image could not be fetched: ${error.message}`);
    throw error;
  }
}

/** The file of the chat that the model names by its id or its name. @throws DomainError when it is missing or no image. */
async function inputImage(_deps: ImageDeps, imageName: string, { files }: ToolRun, signal: AbortSignal): Promise<InputImage> {
  const all = await files.list(signal);
  const file = all.find(({ id }) => id === imageName) ?? all.find(({ filename }) => filename === imageName);
  if (file === undefined) {
    const names = all.map(({ filename }) => filename).slice(-20);
    const knownImages = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
    throw new DomainError('NOT_FOUND', `There is no file ${imageName} in this conversation: ${knownImages}`);
  }
  const bytes = await files.read(file, imageMaxBytes, signal);
  return asImage(file.filename, bytes);
}

/** The file of the caller that the request names. @throws DomainError when it is missing, too large or no image. */
async function ownImage(deps: ImageDeps, id: string, { plan }: ToolRun, signal: AbortSignal): Promise<InputImage> {
  const file = await deps.ownFile(plan.charge, id);
  if (file === undefined) throw new DomainError('NOT_FOUND', `There is no file ${id}`);
  const bytesMax = imageMaxBytes;
  if (file.sizeBytes > bytesMax) {
    throw new DomainError('REQUEST_TOO_LARGE', `The file has ${file.sizeBytes} bytes; at most ${bytesMax} are taken`);
  }
  const bytes = await file.read();
  signal.throwIfAborted();
  return asImage(file.filename, bytes);
}

function asImage(filename: string, bytes: Buffer): InputImage {
  const mimeType = detectImageType(bytes);
  if (mimeType === undefined) throw new DomainError('INVALID_VALUE', `${filename} is no PNG, JPEG, GIF or WebP image`);
  return { filename, mimeType, bytes };
}

async function loadMask(
  deps: ImageDeps,
  mask: NonNullable<FixedOptions['mask']>,
  run: ToolRun,
  signal: AbortSignal,
): Promise<InputImage> {
  if (typeof mask.file_id === 'string') return inputImage(deps, mask.file_id, run, signal);
  const bytes = Buffer.from(String(mask.image_url).replace(/^[^,]*,/, ''), 'base64');
  return { filename: 'mask.png', mimeType: requireImage(deps, bytes), bytes };
}

/** The first words of the prompt, as a file name. */
function makeStem(prompt: string): string {
  const words = prompt.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const stem = words.slice(0, 5).join('-').slice(0, 60).toWellFormed().replaceAll('\ufffd', '');
  return stem === '' ? 'image' : stem;
}
