// The single sign-on provider as better-auth uses it: where it sends browsers, and whom it says has come back. In place
// of the library's own, whose calls have no limits, and which believes userinfo about anyone.
import {
  authorizationCodeRequest,
  createAuthorizationURL,
  getOAuth2Tokens,
  verifyProviderIdToken,
  type OAuth2Tokens,
  type OAuthProvider,
} from 'better-auth/oauth2'
import { createRemoteJWKSet, customFetch, decodeJwt } from 'jose'
import { listOf, parseObject, stringOf, type JsonObject } from '../../core/json.ts'
import { withoutEndSlash } from '../../core/text.ts'
import { readWhole, type HttpClient } from '../../providers/upstream/http.ts'
import { providerIdOf } from '../../store/people/sign-in.ts'
import { describeFailure, type Log } from '../../telemetry/log.ts'
import { email as emailSchema, personName } from '../contract/sign-in.ts'

export type OidcSettings = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The role of people who sign in for the first time; undefined = only invited people may sign in. */
  readonly roleId: string | undefined
  /** Whether somebody with these claims may come without an invitation. */
  readonly mayCome: (claims: Readonly<Record<string, unknown>>) => boolean
  /** Trust the provider's addresses even if it does not call them verified. */
  readonly trustEmail: boolean
}

type Parts = { readonly http: HttpClient; readonly log: Log }

/** The callback URL registered with a provider ends with this. */
const CALLBACK_PATH = '/callback/oidc'
const SCOPES = ['openid', 'email', 'profile']

/** Undefined if the provider does not describe itself; the log says why. */
export function discoverProvider(
  parts: Parts,
  oidc: OidcSettings,
): Promise<OAuthProvider | undefined> {
  return loggingFailure(parts, async () => providerAs(await describe(parts, oidc), oidc, parts))
}

type Described = {
  readonly issuer: string
  readonly authorization: URL
  readonly token: URL
  readonly keys: URL
  readonly userInfo: URL | undefined
  readonly algorithms: readonly string[]
}

async function describe({ http }: Parts, { issuer }: OidcSettings): Promise<Described> {
  const url = new URL(`${withoutEndSlash(issuer)}/.well-known/openid-configuration`)
  const document = await askProvider(http, { url })
  const needed = (name: string): URL => {
    const found = addressIn(document, name)
    if (found === undefined) throw new Error(`${url.href} has no usable ${name}`)
    return found
  }
  needed('issuer')
  const named = stringOf(document['issuer'])
  // Otherwise whoever serves this address could vouch for the people of another provider.
  if (named !== issuer) {
    throw new Error(
      `${url.href} says that its issuer is ${named}: write that as admin.oidc.issuer if it is right`,
    )
  }
  return {
    issuer,
    authorization: needed('authorization_endpoint'),
    token: needed('token_endpoint'),
    keys: needed('jwks_uri'),
    userInfo: addressIn(document, 'userinfo_endpoint'),
    algorithms: listOf(document['id_token_signing_alg_values_supported']).map(String),
  }
}

function addressIn(document: JsonObject, name: string): URL | undefined {
  const url = URL.parse(stringOf(document[name]) ?? '')
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}

function providerAs(described: Described, oidc: OidcSettings, parts: Parts): OAuthProvider {
  const { issuer, algorithms } = described
  const { clientId, clientSecret } = oidc
  const options = { clientId, clientSecret, disableSignUp: oidc.roleId === undefined }
  const { http } = parts
  const provider: OAuthProvider<JsonObject> = {
    id: providerIdOf(issuer),
    name: issuer,
    callbackPath: CALLBACK_PATH,
    issuer,
    options,
    requiresIdTokenNonce: true,
    idToken: {
      jwks: keySet(parts, described.keys),
      issuer,
      audience: clientId,
      algorithms: algorithms.length === 0 ? undefined : [...algorithms],
    },
    accountSubject: ({ profile }) => stringOf(profile['sub']) ?? '',

    createAuthorizationURL: ({ state, codeVerifier, redirectURI, idTokenNonce: nonce }) =>
      createAuthorizationURL({
        id: issuer,
        options,
        authorizationEndpoint: described.authorization.href,
        state,
        codeVerifier,
        scopes: SCOPES,
        redirectURI,
        nonce,
      }),

    validateAuthorizationCode: async ({ code, codeVerifier, redirectURI }) => {
      const asked = { code, codeVerifier, redirectURI, options }
      const { body: form, headers } = await authorizationCodeRequest(asked)
      const request = { url: described.token, form, headers }
      const answer = await loggingFailure(parts, () => askProvider(http, request))
      return answer === undefined ? null : getOAuth2Tokens(answer)
    },

    getUserInfo: async ({ expectedIdTokenNonce: nonce, ...tokens }) => {
      const data = await loggingFailure(parts, async () => {
        const { idToken } = tokens
        if (typeof idToken !== 'string') {
          throw new Error(`${described.token.href} answered without an ID token`)
        }
        if (!(await verifyProviderIdToken(provider, idToken, nonce))) {
          throw new Error(`${described.token.href} answered with an ID token that is not valid`)
        }
        return profileOf(parts, described, { ...tokens, idToken })
      })
      return data === undefined ? null : { data, user: readProfile(data) }
    },
  }
  return provider
}

/** Fetched again when a token names a key that is not in it. */
function keySet(parts: Parts, url: URL) {
  return createRemoteJWKSet(url, {
    [customFetch]: async () => {
      const keys = await loggingFailure(parts, () => askProvider(parts.http, { url }))
      return keys === undefined ? Response.error() : Response.json(keys)
    },
  })
}

/** The claims of a valid ID token, or what userinfo says of the same subject if they lack the address. */
async function profileOf(
  { http }: Parts,
  { userInfo: url }: Described,
  { idToken, accessToken }: OAuth2Tokens & { readonly idToken: string },
): Promise<JsonObject> {
  const claims = decodeJwt<JsonObject>(idToken)
  if (claims['email'] !== undefined || url === undefined) return claims
  const headers = { authorization: `Bearer ${accessToken}` }
  const profile = await askProvider(http, { url, headers })
  if (profile['sub'] === claims.sub) return { ...claims, ...profile }
  throw new Error(`${url.href} answered about another subject than the ID token`)
}

/** Undefined after a failure: the person learns that it failed, the log why. */
async function loggingFailure<Result>(
  { log }: Parts,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (thrown) {
    log.warn('single_sign_on_failed', { cause: describeFailure(thrown) })
    return undefined
  }
}

/** The provider's answers are small documents that somebody waits for in a browser. */
const BYTES_MAX = 1024 * 1024
const WAIT_MS_MAX = 10_000
const LIMITS = { firstByteMs: WAIT_MS_MAX, idleMs: WAIT_MS_MAX, totalMs: WAIT_MS_MAX }
const TIMEOUTS = { connectMs: 5_000, ...LIMITS }

type ProviderRequest = {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** Posted; without it, the document is fetched. */
  readonly form?: URLSearchParams
}

/** The document. Throws an error that names the address and says what arrived instead. */
async function askProvider(http: HttpClient, request: ProviderRequest): Promise<JsonObject> {
  const { url, headers = {}, form } = request
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

type Profile = Readonly<Record<string, unknown>>

function readProfile(profile: Profile) {
  const name = personName.safeParse(profile['name'])
  return {
    email: stringOf(profile['email']),
    emailVerified: isVerified(profile),
    name: name.success ? name.data : '',
  }
}

/** Why nobody may come to an account, or to a new one, by this address; undefined = they may. */
export function addressProblem(
  profile: Profile,
  { trustEmail }: { readonly trustEmail: boolean },
): string | undefined {
  // As the provider spells it: in lower case, some letters turn into those of another address.
  if (!emailSchema.safeParse(profile['email']).success) return 'email_not_usable'
  return trustEmail || isVerified(profile) ? undefined : 'email_not_verified'
}

/** Some providers send the flag as text; nothing but a clear yes counts. */
function isVerified({ email_verified: flag }: Profile): boolean {
  return flag === true || flag === 'true'
}
