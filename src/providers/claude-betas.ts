// Betas of Claude at clouds. Bedrock and Vertex AI refuse a whole request for the name of a beta that they do not know,
// and coding agents name a dozen with every request: only those are sent on that both of them take.

/** What a request needs there beyond what every model does by now. */
const TAKEN: ReadonlySet<string> = new Set([
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
])

type Headers = ReadonlyMap<string, string>

export function takenBetas(client: Headers): readonly string[] {
  return betasIn(client).filter((name) => TAKEN.has(name))
}

/** The others, as the client is told of them. */
export function untakenBetas(client: Headers): readonly string[] {
  return betasIn(client)
    .filter((name) => !TAKEN.has(name))
    .map((name) => `anthropic-beta.${name}`)
}

function betasIn(client: Headers): readonly string[] {
  const names = client.get('anthropic-beta')?.split(',') ?? []
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '')
}
