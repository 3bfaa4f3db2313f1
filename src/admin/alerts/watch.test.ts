// A provider is out of order once a breaker of it has been open for half a minute; one that only asks to wait is not.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { SAMPLE_TARGET } from '../../../test/samples/exchange.ts'
import type { Health } from '../../routing/breaker.ts'
import { OutageWatch } from './watch.ts'

const healths = new Map<string, Health>()
const targets = ['p/one', 'p/two', 'q/one'].map((name) => {
  const [provider = '', model = ''] = name.split('/')
  return { ...SAMPLE_TARGET, name, provider, model }
})
const served = { targets, fallbacks: [] }
const catalog = { list: () => [served, served] }
let watch: OutageWatch

beforeEach(() => {
  healths.clear()
  watch = new OutageWatch({
    catalog,
    healthOf: ({ provider, model: name }) =>
      healths.get(`${provider}/${name}`) ?? { name: 'uncalled' },
  })
})

const answering: Health = { name: 'answering' }
const failing = (reason = 'provider_failed'): Health => ({ name: 'failing', why: { reason } })
const resting = (reason = 'provider_failed'): Health => ({
  ...{ name: 'resting', forMs: 1_000 },
  why: { reason },
})

test('it is told after half a minute, with the target that fails, and again while it goes on', () => {
  healths.set('p/one', answering).set('p/two', resting()).set('q/one', answering)
  const out = { provider: 'p', target: 'p/two', reason: 'provider_failed' }
  assert.deepEqual(watch.look(0), { failing: [], answering: ['q'] })
  healths.set('p/two', failing())
  assert.deepEqual(watch.look(20_000).failing, [])
  healths.set('p/two', resting())
  assert.deepEqual(watch.look(30_000), { failing: [out], answering: ['q'] })
  assert.deepEqual(watch.look(32_000).failing, [])
  assert.deepEqual(watch.look(40_000).failing, [out])
  healths.set('p/two', answering)
  assert.deepEqual(watch.look(50_000), { failing: [], answering: ['p', 'q'] })
})

test('an answer in between starts the half minute anew', () => {
  healths.set('p/one', resting())
  watch.look(0)
  healths.set('p/one', answering)
  watch.look(20_000)
  healths.set('p/one', resting())
  assert.deepEqual(watch.look(40_000).failing, [])
  assert.equal(watch.look(70_000).failing.length, 1)
})

test('neither one failure nor a provider that asks to wait is an outage', () => {
  healths.set('p/one', failing()).set('q/one', resting('provider_rate_limited'))
  watch.look(0)
  assert.deepEqual(watch.look(60_000), { failing: [], answering: [] })
})
