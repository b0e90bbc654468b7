import type { EnabledTool, ToolType } from '../../entities/conversations/runs/tool.ts';
import type { ToolKind } from './tool-kind.ts';

/** The tools of the service that this process knows, whether or not its settings let it run them. */
export class ToolRegistry {
  readonly #kinds: ReadonlyMap<ToolType, ToolKind>;

  constructor(kinds: readonly ToolKind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.type, kind]));
  }

  /** In the order of registration. */
  get all(): readonly ToolKind[] {
    return [...this.#kinds.values()];
  }

  find(type: ToolType): ToolKind | undefined {
    return this.#kinds.get(type);
  }

  /** The names that the model sees of a tool, as far as they are known before a run: a caller's function cannot have one. */
  namesOf({ type, options }: EnabledTool): readonly string[] {
    return this.#kinds.get(type)?.functionNames(options) ?? [];
  }

  /** The tools that a run in chat mode `plan` may use, as far as it may use them. */
  forPlan(tools: readonly EnabledTool[]): readonly EnabledTool[] {
    return tools.flatMap((tool): readonly EnabledTool[] => {
      const kind = this.#kinds.get(tool.type);
      if (kind?.isReadOnly === true) return [tool];
      return kind?.mayHaveReaders === true ? [{ ...tool, onlyReads: true }] : [];
    });
  }

  /** Whether a tool only reads, so that it may be used where no action is wanted. */
  isReadOnly({ type }: Pick<EnabledTool, 'type'>): boolean {
    return this.#kinds.get(type)?.isReadOnly === true;
  }
}
