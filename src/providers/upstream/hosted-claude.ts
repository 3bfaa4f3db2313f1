// Claude's betas on Bedrock and Vertex AI. Both refuse a whole request that names a beta they do not know, and coding
// agents name a dozen with every request, so only the betas that both accept are passed on.

/** Betas for what models there still do not do without one. */
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

/** The betas not passed on, as they are reported to the client. */
export function untakenBetas(client: Headers): readonly string[] {
  return betasIn(client)
    .filter((name) => !TAKEN.has(name))
    .map((name) => `anthropic-beta.${name}`)
}

function betasIn(client: Headers): readonly string[] {
  const names = client.get('anthropic-beta')?.split(',') ?? []
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '')
}
