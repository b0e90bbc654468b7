/** The text of a GraphQL operation that carries the types of its result and its variables. */
export type Document<Result, Variables> = string & { readonly __types?: (variables: Variables) => Result };

/** Gives a text its types; called by the generated files only. */
export function document<Result, Variables>(text: string): Document<Result, Variables> {
  return text;
}
