// A provider that refuses a request may quote it, key included, and the client reads the refusal. Keys come in many
// shapes, but the credentials of this very request are known and can be removed.

const REPLACEMENT = '[redacted]'
const CARRIERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token']
/** Shorter ones protect nothing ("none", "ollama"), and are words that a message may need. */
const LENGTH_MIN = 8

/** The body of an error without the credentials of its request, even where a chunk ends inside one. */
export async function* withoutSecrets(
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
): AsyncGenerator<Uint8Array, void> {
  const secrets = secretsIn(headers)
  const kept = Math.max(1, ...secrets.map(({ length }) => length)) - 1
  let rest = ''
  for await (const chunk of body) {
    // One character per byte, so that everything but secrets comes out unchanged.
    rest = clean(rest + Buffer.from(chunk).toString('latin1'), secrets)
    const ready = rest.slice(0, Math.max(0, rest.length - kept))
    rest = rest.slice(ready.length)
    if (ready !== '') yield Buffer.from(ready, 'latin1')
  }
  if (rest !== '') yield Buffer.from(rest, 'latin1')
}

/** As sent and as base64, the longest first: one may contain another. */
function secretsIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => CARRIERS.includes(name.toLowerCase()))
    .map(([, value]) => value.replace(/^\S+ /, ''))
    .filter(({ length }) => length >= LENGTH_MIN)
    .flatMap((secret) => [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')])
    .toSorted((one, other) => other.length - one.length)
}

function clean(text: string, secrets: readonly string[]): string {
  return secrets.reduce((cleaner, secret) => cleaner.replaceAll(secret, REPLACEMENT), text)
}
