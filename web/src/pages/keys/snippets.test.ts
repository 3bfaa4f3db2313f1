// Snippets are complete, with the reader's address and model, and contain the secret only on request.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SNIPPETS, snippetText } from './snippets.ts'

const values = { baseUrl: 'https://gateway.example.com', model: 'sandbox-chat' }

for (const snippet of SNIPPETS)
  describe(snippet, () => {
    const shown = snippetText(snippet, { ...values, secret: 'tg_live_secret' })
    const hidden = snippetText(snippet, { ...values, secret: undefined })

    test('names the address', () => assert.match(hidden, /https:\/\/gateway\.example\.com/))

    test('has the secret only on request', () => {
      assert.match(shown, /tg_live_secret/)
      assert.doesNotMatch(hidden, /tg_live/)
      assert.match(hidden, /TOLLGATE_API_KEY/)
    })

    test('imports what it uses', () => {
      for (const text of [shown, hidden])
        assert.equal(/^import os$/m.test(text), text.includes('os.environ'))
    })

    test('names the model if it calls one', () => {
      if (snippet !== 'env') assert.match(hidden, /sandbox-chat/)
    })
  })

test('every alias of Claude Code means the model', () => {
  const text = snippetText('claude-code', { ...values, secret: undefined })
  for (const alias of ['OPUS', 'SONNET', 'HAIKU'])
    assert.match(text, new RegExp(`^export ANTHROPIC_DEFAULT_${alias}_MODEL=sandbox-chat$`, 'm'))
})

test('the body of the curl block is JSON', () => {
  const [, body = ''] =
    /-d '(.+)'$/.exec(snippetText('curl', { ...values, secret: undefined })) ?? []
  assert.equal(JSON.parse(body).model, 'sandbox-chat')
})

test('the curl block sets the variable it uses', () => {
  const text = snippetText('curl', { ...values, secret: 'tg_live_secret' })
  assert.match(text, /^export TOLLGATE_API_KEY=tg_live_secret\ncurl .*Bearer \$TOLLGATE_API_KEY/s)
})
