/** What OpenAPI says of a type or a field, in place of a description that only readers of GraphQL need. */
export function describedOnRest(restDescription: string) {
  return { restDescription };
}

/** For `extensions` of a type or an enum: the name that OpenAPI goes on having for it. */
export function restNamed(restName: string) {
  return { restName };
}
