import type { CacheLife } from '../../engine/models/port.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { cacheMember } from '../ground/cache-mark.ts';
import { readThought, writtenThought } from '../ground/thoughts.ts';
import type { AssistantBlock, UserBlock } from './blocks.ts';
import type { Message } from './body.ts';

/** A message of the completions format while it is put together. */
interface CompletionMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: unknown;
  toolCalls?: object[];
  toolCallId?: string;
  reasoningDetails?: object[];
  cache?: CacheLife;
  isError?: boolean;
}
interface Placed {
  readonly message: CompletionMessage;
  /** Of the message in the request. */
  readonly at: string;
  /** Of each of its parts. */
  readonly parts: string[];
}
type Mark = { readonly cache_control?: { readonly ttl?: CacheLife | null | undefined } | null | undefined };
type Media = Extract<UserBlock, { readonly type: 'image' | 'document' | 'search_result' | 'text' }>;

const foreignThought: Warning = {
  code: 'option_not_supported',
  message: 'thinking blocks that another service signed are left out: no model here can check them',
  param: 'messages',
};

/** The conversation of a request of the Messages format, in the words of the completions format. */
export class Conversation {
  readonly #placed: Placed[] = [];
  readonly #warnings: Warning[];

  /** @param warnings  gets what of the conversation has no effect. */
  constructor(warnings: Warning[]) {
    this.#warnings = warnings;
  }

  get messages(): readonly CompletionMessage[] {
    return this.#placed.map(({ message }) => message);
  }

  /** Where the request says what stands at this place in a message; undefined for a message that is not of the request. */
  placeOf(index: number, rest: string): string | undefined {
    const placed = this.#placed[index];
    if (placed === undefined) return undefined;
    if (/^\.tool_?[cC]all_?[iI]d$/.test(rest)) return `${placed.at}.tool_use_id`;
    const part = /^\.content\[(\d+)\]/.exec(rest)?.[1];
    return (part === undefined ? undefined : placed.parts[Number(part)]) ?? `${placed.at}.content`;
  }

  /** Texts up to a mark for caches are one message. */
  addSystem(content: string | readonly (Mark & { readonly text: string })[], at = 'system'): void {
    if (typeof content === 'string') {
      this.#push({ role: 'system', content }, at);
      return;
    }
    let texts: string[] = [];
    const flush = (cache?: CacheLife) => {
      if (texts.length > 0)
        this.#push({ role: 'system', content: texts.join('\n\n'), ...(cache === undefined ? {} : { cache }) }, at);
      texts = [];
    };
    for (const block of content) {
      texts.push(block.text);
      const life = lifeOf(block);
      if (life !== undefined) flush(life);
    }
    flush();
  }

  add(message: Message, at: string): void {
    if (message.role === 'system') this.addSystem(message.content, at);
    else if (typeof message.content === 'string') this.#push({ role: message.role, content: message.content }, at);
    else if (message.role === 'user') this.#addUser(message.content, at);
    else this.#addAssistant(message.content, at);
  }

  /** Marks the end of the conversation for caches. */
  markEnd(life: CacheLife): void {
    const last = this.#placed.at(-1)?.message;
    if (last === undefined) return;
    if (last.role !== 'user') last.cache = life;
    else if (Array.isArray(last.content) && last.content.length > 0) Object.assign(last.content.at(-1), { [cacheMember]: life });
    else last.content = [{ type: 'text', text: String(last.content), [cacheMember]: life }];
  }

  /** Results of calls come first; their images stand in the message behind all of them. */
  #addUser(blocks: readonly UserBlock[], at: string): void {
    const parts: object[] = [];
    const places: string[] = [];
    const show = (block: Media, place: string) => {
      for (const part of toParts(block)) {
        parts.push(part);
        places.push(place);
      }
    };
    for (const [index, block] of blocks.entries()) {
      const place = `${at}.content[${index}]`;
      if (block.type !== 'tool_result') {
        show(block, place);
        continue;
      }
      const { tool_use_id: toolCallId, content, is_error: isError } = block;
      const inner: readonly Media[] = Array.isArray(content) ? content : [];
      const texts = typeof content === 'string' ? [content] : inner.flatMap((part) => findText(part) ?? []);
      for (const [innerIndex, part] of inner.entries()) {
        if (findText(part) === undefined) show(part, `${place}.content[${innerIndex}]`);
      }
      const cache = lifeOf(block) ?? inner.map(lifeOf).find((life) => life !== undefined);
      this.#push(
        {
          ...{ role: 'tool', toolCallId, content: texts.join('\n') },
          ...(isError === true ? { isError } : {}),
          ...(cache === undefined ? {} : { cache }),
        },
        place,
      );
    }
    if (parts.length > 0) this.#placed.push({ message: { role: 'user', content: parts }, at, parts: places });
  }

  /** A message has its thoughts before its text and its text before its calls: another order begins a new one, as long as no call waits. */
  #addAssistant(blocks: readonly AssistantBlock[], at: string): void {
    let message: CompletionMessage | undefined;
    const open = (isNew: boolean): CompletionMessage => {
      if (message === undefined || (isNew && message.toolCalls === undefined)) {
        message = { role: 'assistant' };
        this.#push(message, at);
      }
      return message;
    };
    for (const block of blocks) {
      switch (block.type) {
        case 'text': {
          const own = open(false);
          own.content = `${typeof own.content === 'string' ? own.content : ''}${block.text}`;
          break;
        }
        case 'thinking':
        case 'redacted_thinking': {
          const data = this.#thoughtData(block);
          if (data === undefined) break;
          const own = open(message?.content !== undefined);
          own.reasoningDetails = [...(own.reasoningDetails ?? []), { data }];
          break;
        }
        case 'tool_use': {
          const own = open(false);
          const called = { name: block.name, arguments: JSON.stringify(block.input) };
          own.toolCalls = [...(own.toolCalls ?? []), { id: block.id, type: 'function', function: called }];
          break;
        }
        default:
          // The answer says what a search found.
          break;
      }
      const life = 'cache_control' in block ? lifeOf(block) : undefined;
      if (life !== undefined && message !== undefined) message.cache = life;
    }
    if (message === undefined) this.#push({ role: 'assistant', content: '' }, at);
  }

  #thoughtData(block: Extract<AssistantBlock, { readonly type: 'thinking' | 'redacted_thinking' }>): string | undefined {
    const thought = readThought(block.type === 'thinking' ? block.signature : block.data);
    if (thought === undefined) {
      if (!this.#warnings.includes(foreignThought)) this.#warnings.push(foreignThought);
      return undefined;
    }
    return writtenThought(block.type === 'thinking' && thought.text === '' ? { ...thought, text: block.thinking } : thought);
  }

  #push(message: CompletionMessage, at: string): void {
    this.#placed.push({ message, at, parts: [] });
  }
}

function lifeOf({ cache_control: mark }: Mark): CacheLife | undefined {
  return mark === undefined || mark === null ? undefined : (mark.ttl ?? '5m');
}

/** The text of a block that is nothing else; undefined for one that has to be read first. */
function findText(block: Media): string | undefined {
  if (block.type === 'text') return block.text;
  if (block.type === 'search_result') {
    return `Search result "${block.title}" (${block.source}):\n${block.content.map(({ text }) => text).join('\n')}`;
  }
  return block.type === 'document' && block.source.type === 'text' ? documentText(block, block.source.data) : undefined;
}

function documentText({ title, context }: Extract<Media, { readonly type: 'document' }>, text: string): string {
  const head = [title, context].filter((line) => line !== undefined && line !== null && line !== '').join('\n');
  return head === '' ? text : `${head}\n\n${text}`;
}

/** The parts of the completions format. The mark for caches stands on the last of them. */
function toParts(block: Media): readonly object[] {
  const text = findText(block);
  const parts = text === undefined ? mediaParts(block) : [{ type: 'text', text }];
  const life = lifeOf(block);
  return life === undefined
    ? parts
    : parts.map((part, index) => (index === parts.length - 1 ? { ...part, [cacheMember]: life } : part));
}

function mediaParts(block: Media): readonly object[] {
  if (block.type === 'image') {
    const { source } = block;
    if (source.type === 'file') return [{ type: 'file', file: { file_id: source.file_id } }];
    const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data.replace(/\s+/g, '')}`;
    return [{ type: 'image_url', image_url: { url } }];
  }
  if (block.type !== 'document') return [];
  const { source, title, context } = block;
  const about = context === undefined || context === null || context === '' ? [] : [{ type: 'text', text: context }];
  switch (source.type) {
    case 'base64': {
      const data = `data:${source.media_type};base64,${source.data.replace(/\s+/g, '')}`;
      return [...about, { type: 'file', file: { file_data: data, filename: title ?? 'document' } }];
    }
    case 'url':
      return [...about, { type: 'url', url: source.url }];
    case 'file':
      return [...about, { type: 'file', file: { file_id: source.file_id } }];
    case 'content': {
      const titled = title === undefined || title === null || title === '' ? [] : [{ type: 'text', text: title }];
      const inner =
        typeof source.content === 'string' ? [{ type: 'text', text: source.content }] : source.content.flatMap(toParts);
      return [...titled, ...about, ...inner];
    }
    default:
      return [];
  }
}
