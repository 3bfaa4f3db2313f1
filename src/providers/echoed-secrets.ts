// Who refuses a request may quote what it was sent, the key among it, and the client is to read the refusal. The shapes of
// keys are many, but what this very request carried is known.

const REPLACEMENT = '[redacted]'
const CARRIERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token']
/** Shorter ones guard nothing ("none", "ollama"), and are words that a message may need. */
const LENGTH_MIN = 8

/** The body of an error without the credentials of the request that it answers, also where a chunk ends inside one. */
export async function* withoutSecrets(
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
): AsyncGenerator<Uint8Array, void> {
  const secrets = secretsIn(headers)
  const kept = Math.max(1, ...secrets.map(({ length }) => length)) - 1
  let rest = ''
  for await (const chunk of body) {
    // A character a byte, so that whatever is not a secret comes out as it came in.
    rest = clean(rest + Buffer.from(chunk).toString('latin1'), secrets)
    const ready = rest.slice(0, Math.max(0, rest.length - kept))
    rest = rest.slice(ready.length)
    if (ready !== '') yield Buffer.from(ready, 'latin1')
  }
  if (rest !== '') yield Buffer.from(rest, 'latin1')
}

/** As they were sent and as base64, the longest first: one may contain another. */
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
