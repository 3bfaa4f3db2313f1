// Which header counts, how each wrong one is refused, and that a bad secret never reaches the look-up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CALLER as caller } from '../../test/samples/caller.ts'
import type { AuthHeaders } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { hashSecret, newPersonalToken, newSecret } from '../core/secret.ts'
import type { Used } from '../store/keys/secrets.ts'
import type { Authenticator, Caller, Credentials } from './authenticate.ts'
import { authenticate, ForeignSecrets, KeyDirectory, LastUse } from './authenticate.ts'

const NOW = 1_800_000_000_000
const secret = newSecret('live')

function door(
  known: Caller = caller,
  authHeaders: AuthHeaders = 'strict',
): Authenticator & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    clock: { now: () => NOW, monotonicMs: () => 0 },
    settings: { authHeaders },
    foreign: { has: () => false },
    directory: {
      forget: () => {},
      findBySecretHash: async (hash) => {
        asked.push(hash)
        return hash === hashSecret(secret) ? known : undefined
      },
    },
  }
}

const chat = (authorization?: string, apiKey?: string): Credentials => ({
  family: 'chat',
  authorization,
  apiKey,
})
const messages = (authorization?: string, apiKey?: string): Credentials => ({
  family: 'messages',
  authorization,
  apiKey,
})

test('the header of the family is accepted, and another one beside it is ignored', async () => {
  for (const credentials of [
    chat(`Bearer ${secret}`),
    chat(`bearer  ${secret} `),
    chat(`Bearer ${secret}`, 'nonsense'),
    messages(undefined, secret),
    messages('Bearer nonsense', secret),
    messages(undefined, `${secret}, ${secret}`),
    chat(`Bearer ${secret}, Bearer ${secret}`),
  ]) {
    assert.equal(await authenticate(door(), credentials, {}), caller)
  }
})

test('with `either`, the other header counts when the family’s own holds no key', async () => {
  const other = newSecret('live')
  for (const credentials of [
    chat(`Bearer ${secret}`),
    chat(undefined, secret),
    chat('', secret),
    chat('Basic dXNlcjpwYXNz', secret),
    chat('Bearer sk-ant-nothing', secret),
    chat(`Bearer ${other.slice(0, -1)}`, secret),
    chat(`Bearer ${secret}`, 'nonsense'),
    chat(`Bearer ${secret}`, secret),
    messages(undefined, secret),
    messages(`Bearer ${secret}`),
    messages(`Bearer ${secret}`, ' '),
    messages(`Bearer ${secret}`, 'nonsense'),
    messages('Bearer nonsense', secret),
    messages('Digest username="a", realm="b", nonce="c"', secret),
    chat('AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=b', secret),
    messages(`Bearer ${secret}`, `${secret}, ${secret}`),
  ]) {
    assert.equal(await authenticate(door(caller, 'either'), credentials, {}), caller)
  }
})

test('with `either`, two different keys are refused, and none is looked up', async () => {
  const other = newSecret('live')
  for (const credentials of [
    chat(`Bearer ${secret}`, other),
    chat(`Bearer ${other}`, secret),
    messages(`Bearer ${secret}`, other),
    messages(`Bearer ${other}`, secret),
  ]) {
    const at = door(caller, 'either')
    await assert.rejects(authenticate(at, credentials, {}), {
      code: 'invalid_api_key',
      message: /two different API keys, in Authorization and in x-api-key: send one/,
    })
    assert.deepEqual(at.asked, [])
  }
})

test('with `either`, a request without a usable key is told what is wrong with the one it has', async () => {
  const refuses = (credentials: Credentials, message: RegExp) =>
    assert.rejects(authenticate(door(caller, 'either'), credentials, {}), {
      code: 'invalid_api_key',
      message,
    })
  await refuses(chat(), /header "Authorization: Bearer <API_KEY>" or "x-api-key: <API_KEY>"$/)
  await refuses(messages(), /header "x-api-key: <API_KEY>" or "Authorization: Bearer <API_KEY>"$/)
  await refuses(chat('Basic dXNlcjpwYXNz'), /reads it only from the header/)
  await refuses(chat(undefined, 'nonsense'), /is unknown/)
  await refuses(messages('Bearer nonsense'), /is unknown/)
  await refuses(messages(`Bearer ${newPersonalToken()}`), /an access token/)
  await refuses(chat(`Bearer ${secret}`, `${secret}, nonsense`), /x-api-key has several values/)
})

test('a key in the wrong place is a 401 that names the right header', async () => {
  const refuses = (credentials: Credentials, message: RegExp) =>
    assert.rejects(
      authenticate(door(), credentials, {}),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'invalid_api_key' &&
        message.test(error.message),
    )
  await refuses(chat(), /"Authorization: Bearer <API_KEY>"/)
  await refuses(chat(undefined, secret), /"Authorization: Bearer <API_KEY>"/)
  await refuses(chat(`Basic ${secret}`), /"Authorization: Bearer <API_KEY>"/)
  await refuses(chat(secret), /"Authorization: Bearer <API_KEY>"/)
  await refuses(messages(`Bearer ${secret}`), /header "x-api-key: <API_KEY>"$/)
  await refuses(messages(`Bearer ${secret}`, ' '), /"x-api-key: <API_KEY>"/)
  await refuses(chat(`Bearer ${newSecret('live')}`), /is unknown/)
  const other = newSecret('live')
  await refuses(messages(undefined, `${secret}, ${other}`), /x-api-key has several values/)
  await refuses(chat(`Bearer ${secret}, Bearer ${other}`), /Authorization has several values/)
  await refuses(chat(`Bearer ${secret}, Basic ${secret}`), /Authorization has several values/)
})

test('a malformed secret is refused without a look-up', async () => {
  const at = door()
  for (const text of ["' OR 1=1 --", `${secret.slice(0, -1)}!`, 'x', '%', secret.slice(0, -1)]) {
    const bearer = chat(`Bearer ${text.replaceAll(' ', '')}`)
    await assert.rejects(authenticate(at, bearer, {}), GatewayError)
  }
  assert.deepEqual(at.asked, [])
})

test('the refusal of a personal access token says where it works', async () => {
  const token = chat(`Bearer ${newPersonalToken()}`)
  await assert.rejects(authenticate(door(), token, {}), {
    code: 'invalid_api_key',
    message: /^this is an access token, which works only with the admin API/,
  })
})

test('the refusal of an unusable key says why', async () => {
  for (const [change, code] of [
    [{ status: 'revoked' }, 'revoked_api_key'],
    [{ status: 'paused' }, 'paused_api_key'],
    [{ expiresAt: NOW }, 'expired_api_key'],
    [{ status: 'revoked', expiresAt: NOW }, 'revoked_api_key'],
    [{ secretValidUntil: NOW }, 'invalid_api_key'],
  ] as const) {
    await assert.rejects(
      authenticate(door({ ...caller, ...change }), chat(`Bearer ${secret}`), {}),
      (error) => error instanceof GatewayError && error.code === code,
      code,
    )
  }
  const valid = { ...caller, expiresAt: NOW + 1, secretValidUntil: NOW + 1 }
  assert.equal(await authenticate(door(valid), chat(`Bearer ${secret}`), {}), valid)
})

test('the log names the key, even if it may not be used', async () => {
  for (const change of [
    {},
    { status: 'revoked' },
    { status: 'paused' },
    { expiresAt: NOW },
  ] as const) {
    const trace: { keyId?: string } = {}
    const at = door({ ...caller, ...change })
    await authenticate(at, chat(`Bearer ${secret}`), trace).catch(() => {})
    assert.equal(trace.keyId, caller.keyId, JSON.stringify(change))
  }
})

// Keys in memory: looked up once, forgotten at once, and never put back by a look-up that began before the change.

test('a key is looked up once, and so is an unknown secret', async () => {
  const asked: string[] = []
  const directory = new KeyDirectory(async (hash) => {
    asked.push(hash)
    return hash === 'known' ? caller : undefined
  })
  for (const hash of ['known', 'known', 'unknown', 'unknown']) {
    const found = await directory.findBySecretHash(hash)
    assert.equal(found, hash === 'known' ? caller : undefined)
  }
  assert.deepEqual(asked, ['known', 'unknown'])
  directory.forget()
  assert.equal(await directory.findBySecretHash('known'), caller)
  assert.deepEqual(asked, ['known', 'unknown', 'known'])
})

test('an unknown secret is found once a key has it', async () => {
  const answers = [undefined, caller]
  const directory = new KeyDirectory(async () => answers.shift())
  assert.equal(await directory.findBySecretHash('hash'), undefined)
  directory.forget()
  assert.equal(await directory.findBySecretHash('hash'), caller)
})

for (const [most, what, found] of [
  [100_000, 'keys', caller],
  [10_000, 'unknown secrets', undefined],
] as const)
  test(`the directory remembers at most ${most} ${what}`, async () => {
    let loads = 0
    const told = Promise.resolve(found)
    const directory = new KeyDirectory(() => {
      loads += 1
      return told
    })
    for (let n = 0; n < most; n++) await directory.findBySecretHash(`hash ${n}`)
    await directory.findBySecretHash('hash 0')
    assert.equal(loads, most)
    await directory.findBySecretHash('one more')
    await directory.findBySecretHash('hash 0')
    assert.equal(loads, most + 2)
  })

test('a look-up that a change overtakes is not remembered', async () => {
  const first = Promise.withResolvers<Caller | undefined>()
  const answers = [first.promise, Promise.resolve(undefined)]
  const directory = new KeyDirectory(() => answers.shift() ?? Promise.resolve(undefined))
  const early = directory.findBySecretHash('hash')
  directory.forget()
  first.resolve(caller)
  assert.equal(await early, caller)
  assert.equal(await directory.findBySecretHash('hash'), undefined)
})

// The last use of keys and secrets: gathered, written together, and never a reason to fail.

const clock = { at: 0, now: () => clock.at, monotonicMs: () => 0 }

/** What is written of these uses, one a moment, when the gatherer stops. */
async function writtenOf(uses: readonly { keyId: string; secretHash: string | null }[]) {
  const written: Used[] = []
  const lastUse = new LastUse(clock, async (used) => void written.push(used))
  clock.at = 0
  for (const use of uses) {
    clock.at += 1
    lastUse.note(use)
  }
  await lastUse.stop()
  await lastUse.stop()
  return written
}

test('the last use of each key and secret is written once', async () => {
  const written = await writtenOf([
    { keyId: 'key_a', secretHash: 'old' },
    { keyId: 'key_b', secretHash: null },
    { keyId: 'key_a', secretHash: 'new' },
  ])
  const keys = new Map([
    ['key_a', 3],
    ['key_b', 2],
  ])
  const secrets = new Map([
    ['old', 1],
    ['new', 3],
  ])
  assert.deepEqual(written, [{ keys, secrets }])
})

test('nothing is written if nothing was used', async () => {
  assert.deepEqual(await writtenOf([]), [])
})

test('an unreachable database causes no failure', async () => {
  const lastUse = new LastUse(clock, () => Promise.reject(new Error('away')))
  lastUse.note({ keyId: 'key_a', secretHash: null })
  await lastUse.stop()
})

test('a secret of another gateway opens its key, and a guess at one is never looked up', async () => {
  const old = 'sk-1234567890abcdef'
  const reads: number[] = []
  let isOn = true
  const foreign = new ForeignSecrets({
    isOn: () => isOn,
    read: async (since) => {
      reads.push(since)
      return [{ hash: hashSecret(old), createdAt: 7 }]
    },
  })
  const asked: string[] = []
  const gate: Authenticator = {
    ...door(caller, 'either'),
    foreign,
    directory: {
      forget: () => {},
      findBySecretHash: (hash) => {
        asked.push(hash)
        return caller
      },
    },
  }
  await assert.rejects(authenticate(gate, chat(`Bearer ${old}`), {}), /unknown/)
  await foreign.refresh()
  await foreign.refresh()
  assert.deepEqual(reads, [0, 7])
  assert.equal(await authenticate(gate, chat(`Bearer ${old}`), {}), caller)
  // Beside what a library sends by itself.
  assert.equal(await authenticate(gate, messages(`Bearer ${old}`, 'sk-none'), {}), caller)
  for (let guess = 0; guess < 1_000; guess++) {
    await assert.rejects(authenticate(gate, chat(`Bearer sk-${guess}`), {}), /unknown/)
  }
  assert.deepEqual(new Set(asked), new Set([hashSecret(old)]))
  isOn = false
  await assert.rejects(authenticate(gate, chat(`Bearer ${old}`), {}), /unknown/)
})
