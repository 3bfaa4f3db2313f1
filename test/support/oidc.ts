// A minimal OpenID Connect provider: discovery, keys, the code flow with PKCE, and ID tokens signed with RS256. Every
// visitor is signed in at once, as the person that the test has set.
import { createHash, createSign, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Claims = Readonly<Record<string, unknown>>

export type OidcProvider = AsyncDisposable & {
  readonly issuer: string
  /** Who the next visitor is. */
  person: Claims
  /** Claims that replace those of the ID token, for tokens that must be refused. */
  forged: Claims
  /** What it says of everyone at its userinfo endpoint; the ID token then names only the subject. */
  userInfo: Claims | undefined
  /** Signs with a key that the provider does not publish. */
  isSignedWrongly: boolean
  /** Answers instead of its own, by path. */
  readonly instead: Map<string, (response: ServerResponse) => void>
  /** The addresses that it sent browsers back to. */
  readonly returned: readonly URL[]
}

export const DISCOVERY = '/.well-known/openid-configuration'
export const CLIENT = { id: 'tollgate', secret: 'the secret of a client' }

/** The part of a tollgate.yaml that names it. `more`: further settings of it. */
export function signOnConfig({ issuer }: Pick<OidcProvider, 'issuer'>, more = ''): string {
  return `
admin:
  oidc: { issuer: "${issuer}", client_id: ${CLIENT.id}, client_secret: "${CLIENT.secret}", name: Acme${more} }
`
}

type Pending = {
  readonly nonce: string | null
  readonly challenge: string
  readonly redirect: string
}

export async function startOidcProvider(port = 0): Promise<OidcProvider> {
  const published = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, Pending>()
  const returned: URL[] = []
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: OidcProvider = {
    issuer,
    person: {},
    forged: {},
    userInfo: undefined,
    instead: new Map(),
    isSignedWrongly: false,
    returned,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    const instead = provider.instead.get(url.pathname)
    if (instead !== undefined) return instead(response)
    switch (url.pathname) {
      case DISCOVERY:
        return answerJson(response, discovery(issuer))
      case '/keys': {
        const key = published.publicKey.export({ format: 'jwk' })
        return answerJson(response, { keys: [{ ...key, kid: 'k1', use: 'sig', alg: 'RS256' }] })
      }
      case '/authorize':
        return authorize(url, response)
      case '/token':
        return token(new URLSearchParams(await text(request)), request, response)
      case '/userinfo':
        return answerJson(response, provider.userInfo)
      default:
        response.writeHead(404).end()
    }
  }

  function authorize({ searchParams }: URL, response: ServerResponse): void {
    const code = randomUUID()
    const redirect = searchParams.get('redirect_uri') ?? ''
    const challenge = searchParams.get('code_challenge') ?? ''
    codes.set(code, { nonce: searchParams.get('nonce'), challenge, redirect })
    const back = new URL(redirect)
    back.searchParams.set('code', code)
    back.searchParams.set('state', searchParams.get('state') ?? '')
    returned.push(back)
    response.writeHead(302, { location: back.href }).end()
  }

  function token(form: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const pending = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isClient = form.get('client_secret') === CLIENT.secret || isBasic(request)
    if (pending === undefined || verifier !== pending.challenge || !isClient) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":"invalid_grant"}')
      return
    }
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: issuer, aud: CLIENT.id, iat: now, exp: now + 60, nonce: pending.nonce }
    const { person, userInfo, forged } = provider
    const told = userInfo === undefined ? person : { sub: person['sub'] }
    const idToken = sign({ ...claims, ...told, ...forged })
    answerJson(response, {
      access_token: randomBytes(16).toString('hex'),
      token_type: 'Bearer',
      expires_in: 60,
      id_token: idToken,
    })
  }

  function sign(claims: Claims): string {
    const head = encode({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
    const body = `${head}.${encode(claims)}`
    const key = provider.isSignedWrongly ? other.privateKey : published.privateKey
    return `${body}.${createSign('RSA-SHA256').update(body).sign(key, 'base64url')}`
  }

  return provider
}

export function discovery(issuer: string): Claims {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  }
}

function isBasic({ headers }: IncomingMessage): boolean {
  const expected = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')
  return headers.authorization === `Basic ${expected}`
}

export function answerJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
