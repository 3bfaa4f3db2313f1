// Calls to the single sign-on provider. Its answers are small documents that somebody waits for in a browser, so they
// are limited in bytes and in time.
import { parseObject, stringOf, type JsonObject } from '../../core/json.ts'
import { readWhole } from '../../providers/upstream/answers.ts'
import type { HttpClient } from '../../providers/upstream/http.ts'

const BYTES_MAX = 1024 * 1024
const WAIT_MS_MAX = 10_000
const TIMEOUTS = {
  connectMs: 5_000,
  firstByteMs: WAIT_MS_MAX,
  idleMs: WAIT_MS_MAX,
  totalMs: WAIT_MS_MAX,
}

type Question = {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** Posted; without it, the document is fetched. */
  readonly form?: URLSearchParams
}

/** The document. Throws an error that names the address and says what arrived instead. */
export async function askProvider(http: HttpClient, question: Question): Promise<JsonObject> {
  const { url, headers = {}, form } = question
  try {
    const { status, body } = await http.send(
      {
        url,
        headers: { accept: 'application/json', ...headers },
        timeouts: TIMEOUTS,
        ...(form === undefined
          ? { method: 'GET' }
          : { method: 'POST', body: Buffer.from(form.toString()) }),
      },
      new AbortController().signal,
    )
    const document = parseObject((await readWhole(body, BYTES_MAX)).toString())
    if (status !== 200) throw new Error(`it answered ${status}${errorIn(document)}`)
    if (document === undefined) throw new Error('it answered something that is no JSON object')
    return document
  } catch (cause) {
    throw new Error(`${url.origin}${url.pathname}`, { cause })
  }
}

/** The code that OAuth gives for a refusal, such as invalid_client. */
function errorIn(document: JsonObject | undefined): string {
  const code = stringOf(document?.['error'])
  return code !== undefined && /^\w{1,60}$/.test(code) ? ` (${code})` : ''
}
