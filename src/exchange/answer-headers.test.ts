// Header values, whatever the fields and models in them are called.
import assert from 'node:assert/strict'
import { validateHeaderValue } from 'node:http'
import { test } from 'node:test'

import { setTargetHeaders } from './answer-headers.ts'
import type { Prepared } from './prepare.ts'
import type { Reply } from './reply.ts'

test('a target and a field may be called whatever a header cannot carry', () => {
  const headers = new Map<string, string>()
  const reply = { setHeader: headers.set.bind(headers) } as unknown as Reply
  const target = { provider: { name: 'local' }, model: '通义-7b', dropped: ['größe', '🚪\n'] }
  setTargetHeaders(reply, target as unknown as Prepared)
  for (const [name, value] of headers) validateHeaderValue(name, value)
  assert.equal(headers.get('x-tollgate-target'), 'local/??-7b')
  assert.equal(headers.get('x-tollgate-dropped'), 'gr??e, ???')
})
