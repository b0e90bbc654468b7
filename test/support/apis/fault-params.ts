interface GraphqlError {
  readonly extensions: { readonly faults: readonly { readonly path: string | null }[] };
}

/** The first wrong member of a GraphQL error as REST would name it: `input.tools.1.url` is `tools[1].url`. */
export function faultParam({ extensions: { faults } }: GraphqlError): string | null {
  return faults[0]?.path?.replace(/^input\./, '').replaceAll(/\.(\d+)/g, '[$1]') ?? null;
}
