// Applications that come from LiteLLM: with the secret they have, to paths without /v1, by names with a provider.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import { ensureWeb } from '../../scripts/checkout.mjs'
import { systemClock } from '../../src/core/clock.ts'
import { hashSecret } from '../../src/core/secret.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { bumpRevision } from '../../src/store/database/revision.ts'
import { addSecrets, foreignSecretOf } from '../../src/store/keys/secrets.ts'
import { openStore } from '../../src/store/open.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const OLD = 'sk-Zm9yLWFwcGxpY2F0aW9ucw'
const HELLO = { messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 20 }

describe('compat.litellm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-compat-'))
  let gateway: TestGateway
  before(async () => {
    // One of these paths shows a page of the interface.
    await ensureWeb()
    gateway = await startGateway({ folder, config: CONFIG })
    await gateway.key('app', 'sandbox-chat,house')
    await takeOver(`sqlite:${join(folder, 'tollgate.db')}`, gateway)
  })
  after(async () => {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const ask = (path: string, headers: Record<string, string>, body?: object) =>
    fetch(gateway.url + path, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...headers },
    })

  test('an application keeps its secret, with only the address changed', async () => {
    const client = new OpenAI({ baseURL: gateway.url, apiKey: OLD, maxRetries: 0 })
    const models = await client.models.list()
    assert.deepEqual(
      models.data.map(({ id }) => id),
      ['sandbox-chat', 'house'],
    )
    const { choices } = await client.chat.completions.create({ model: 'sandbox-chat', ...HELLO })
    assert.ok(choices[0]?.message.content)
  })

  test('either header counts, on paths with and without /v1', async () => {
    const body = { model: 'sandbox-chat', ...HELLO }
    for (const path of ['/chat/completions', '/v1/chat/completions', '/messages', '/v1/messages']) {
      for (const headers of [{ authorization: `Bearer ${OLD}` }, { 'x-api-key': OLD }]) {
        assert.equal((await ask(path, headers, body)).status, 200, path)
      }
    }
  })

  test('a page of the interface stays a page, and a path of nothing stays one', async () => {
    const page = await ask('/models', { accept: 'text/html' })
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.equal((await ask('/completions', { 'x-api-key': OLD }, {})).status, 404)
  })

  test('a name may begin with the provider, and the allowlist still counts', async () => {
    const key = { authorization: `Bearer ${OLD}` }
    // Nobody listens there: what matters is that the model was found.
    const house = await ask('/v1/chat/completions', key, { model: 'openai/house', ...HELLO })
    assert.equal(house.status, 502)
    assert.equal((await ask('/models/openai/house', key)).status, 200)
    const other = await ask('/v1/chat/completions', key, { model: 'openai/other', ...HELLO })
    assert.equal(other.status, 403)
  })

  test('headers name the end user and tags, unless the body does', async () => {
    const headers = {
      authorization: `Bearer ${OLD}`,
      'x-litellm-end-user-id': 'ann',
      'x-litellm-tags': 'search,eu',
    }
    const rowOf = async (body: object) => {
      const answer = await ask('/chat/completions', headers, {
        model: 'sandbox-chat',
        ...HELLO,
        ...body,
      })
      const id = answer.headers.get('x-request-id') ?? ''
      await answer.text()
      // With the ledger's module, without which nobody sees what is in its journal.
      const threadModules = [LEDGER_THREAD_MODULE]
      const database = `sqlite:${join(folder, 'tollgate.db')}`
      const store = await openStore(database, { clock: systemClock, threadModules })
      const row = await store.db
        .selectFrom('usage')
        .select(['end_user', 'tags'])
        .where('request_id', '=', id)
        .executeTakeFirstOrThrow()
      await store.close()
      return row
    }
    assert.deepEqual(await rowOf({}), { end_user: 'ann', tags: '{"tags":"search,eu"}' })
    const named = await rowOf({ user: 'bob', metadata: { tags: 'own', floor: '3' } })
    assert.deepEqual(named, { end_user: 'bob', tags: '{"tags":"own","floor":"3"}' })
  })

  test('a guess is refused as an unknown key', async () => {
    const guess = await ask('/v1/models', { authorization: 'Bearer sk-guess' })
    assert.equal(guess.status, 401)
    assert.match(await guess.text(), /this API key is unknown/)
  })
})

const CONFIG = `
compat: { litellm: true }
providers: { there: { kind: openai, base_url: "http://127.0.0.1:9/v1", api: chat } }
models:
  house: { targets: [there/house], price: free, context: 8000, max_output: 1000 }
  other: { targets: [there/other], price: free, context: 8000, max_output: 1000 }
`

/** As an import does it: the key's secret is one of which only the hash is known. */
async function takeOver(database: string, gateway: TestGateway): Promise<void> {
  const keys = await gateway.tollgate('keys', 'show', 'app')
  const store = await openStore(database, { clock: systemClock, purpose: 'change' })
  try {
    await store.db.transaction().execute(async (tx) => {
      await bumpRevision(store, tx)
      const secret = foreignSecretOf({ hash: hashSecret(OLD), end: OLD.slice(-4) })
      await addSecrets(store, tx, [{ keyId: String(keys['id']), ...secret }])
    })
  } finally {
    await store.close()
  }
  await until(async () => {
    const headers = { authorization: `Bearer ${OLD}` }
    return (await fetch(`${gateway.url}/v1/models`, { headers })).status === 200
  })
}
