import { graphql } from 'relay-runtime';

graphql`
query SearchQuery($query: String!, $first: Int = 20) {
  search(query: $query, first: $first) {
    kind
    title
    titleHighlights { start end }
    snippet
    highlights { start end }
    node { id }
  }
}
`;
