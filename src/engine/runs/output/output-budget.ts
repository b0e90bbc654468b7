import type { RunItem, TokenLogprob } from '../../../entities/conversations/runs/event.ts';

/** What each token with a log probability costs, and each of its alternatives: an object in memory, JSON text in the event log. */
const tokenChars = 60;

/** Limits how much of what models say one run keeps in memory until its end. Counted in characters of the JSON text that arrives. */
export class OutputBudget {
  /** Whether something did not fit: the answer ends there. */
  isFull = false;
  left: number;

  constructor(charsMax: number, earlierItems: readonly RunItem[]) {
    this.left = charsMax - earlierItems.reduce((sum, item) => sum + measureLength(item), 0);
  }

  /** @returns the literal, or the part of it that fits; undefined for nothing. */
  take(json: string): string | undefined {
    const length = json.length - 2;
    if (length <= this.left && !this.isFull) {
      this.left -= length;
      return json;
    }
    const fits = this.isFull ? 0 : Math.max(0, this.left);
    this.isFull = true;
    if (fits === 0) return undefined;
    const text = (JSON.parse(json) as string).slice(0, fits);
    // Half of a surrogate pair is not a character.
    return JSON.stringify(/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text);
  }

  /** Takes all or nothing. */
  takesLogprobs(tokens: readonly TokenLogprob[]): boolean {
    this.left -= tokens.reduce((sum, { top_logprobs }) => sum + tokenChars * (1 + top_logprobs.length), 0);
    if (this.left < 0) this.isFull = true;
    return !this.isFull;
  }
}

function measureLength(item: RunItem): number {
  if (item.type === 'message') return item.text.length;
  if (item.type === 'reasoning')
    return item.text.length + (item.origin?.opaque === undefined ? 0 : JSON.stringify(item.origin.opaque).length);
  if (item.type === 'server_tool_call_output') return item.output.length;
  if (item.type === 'mcp_list_tools') return 0;
  return item.arguments.length + (item.type === 'server_tool_call' ? (item.result?.output.length ?? 0) : 0);
}
