/**
 * The tools of the service itself, by the type that enables them in a request, and the names under which the model sees them. While one
 * is enabled, a caller's function must not have its name.
 */
export const builtinTools: Readonly<Record<string, readonly string[]>> = {
  web_search: ['web_search'],
  web_search_preview: ['web_search'],
  python: ['python'],
  code_interpreter: ['python'],
  image_generation: ['image_generation'],
  mcp_server: [],
  spreadsheet: ['spreadsheet'],
  memory: ['memory'],
  sandbox: ['sandbox'],
  deep_research: ['deep_research'],
};

const readOnly: readonly string[] = ['web_search', 'deep_research'];

/** Whether a tool of the service only reads: it may be used where nothing is to be carried out yet. */
export function isReadOnly(name: string): boolean {
  return readOnly.includes(name);
}
