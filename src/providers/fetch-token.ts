// Fetches an access token by OAuth 2: posts a form with the credentials, gets a token with its lifetime.
import { numberOf, stringOf } from '../core/json.ts'
import type { AccessToken } from './access-tokens.ts'
import { failed, fetchJson } from './fetch-json.ts'
import type { HttpClient } from './http.ts'

export async function fetchToken(
  http: HttpClient,
  url: URL,
  form: Readonly<Record<string, string>>,
): Promise<AccessToken> {
  const answer = await fetchJson(
    http,
    {
      url,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams(form).toString()),
    },
    // Many requests may wait for one token, so none of them may abort the call.
    new AbortController().signal,
  )
  const value = stringOf(answer['access_token'])
  if (value === undefined) throw failed(`${url.host} gave no access token`)
  return { value, expiresInSeconds: numberOf(answer['expires_in']) ?? 0 }
}
