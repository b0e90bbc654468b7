import { type JsonObject, membersOf, readElements, readString } from '../../../../../lib/json/json.ts';

/** A node of the Atlassian Document Format. Both products' content becomes this, and this becomes Markdown. */
export interface AdfNode {
  readonly type: string;
  /** Of nodes of the type `text`. */
  readonly text: string;
  readonly attrs: JsonObject;
  /** The types of `code`, `strong`, `link` and so on, with their attributes. */
  readonly marks: readonly AdfMark[];
  readonly content: readonly AdfNode[];
}

export interface AdfMark {
  readonly type: string;
  readonly attrs: JsonObject;
}

/** No person nests so deep; what lies deeper is left out, so that no document exhausts the stack. */
const depthMax = 100;

/** The nodes of a document as the services send it. Members of another type count as absent. */
export function readAdf(value: unknown, depth = 0): AdfNode {
  const { type, text, attrs, marks, content } = membersOf(value);
  return {
    type: readString(type) ?? '',
    text: readString(text) ?? '',
    attrs: membersOf(attrs),
    marks: readElements(marks).map((mark) => ({
      type: readString(membersOf(mark).type) ?? '',
      attrs: membersOf(membersOf(mark).attrs),
    })),
    content: depth >= depthMax ? [] : readElements(content).map((child) => readAdf(child, depth + 1)),
  };
}

export function adfNode(type: string, content: readonly AdfNode[] = [], attrs: JsonObject = {}): AdfNode {
  return { type, text: '', attrs, marks: [], content };
}

export function adfText(text: string, marks: readonly AdfMark[] = []): AdfNode {
  return { type: 'text', text, attrs: {}, marks, content: [] };
}
