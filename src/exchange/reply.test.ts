// Running exchanges can be cut by key, until they have ended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../core/errors.ts'
import { RunningExchanges } from './reply.ts'

function exchange(): { readonly cuts: string[]; cut(why: GatewayError): void } {
  const cuts: string[] = []
  return { cuts, cut: (why) => cuts.push(why.code) }
}

test('only the exchanges of a revoked key are cut', () => {
  const running = new RunningExchanges()
  const [one, two, other] = [exchange(), exchange(), exchange()]
  running.begin('a', one)
  running.begin('a', two)
  running.begin('b', other)
  assert.deepEqual(running.keyIds(), ['a', 'b'])
  running.cutRevoked(['a'])
  assert.deepEqual(
    [one, two, other].map(({ cuts }) => cuts.join()),
    ['revoked_api_key', 'revoked_api_key', ''],
  )
})

test('an exchange that has ended is not cut', () => {
  const running = new RunningExchanges()
  const [ended, runs] = [exchange(), exchange()]
  const first = running.begin('a', ended)
  const second = running.begin('a', runs)
  first.remove()
  running.cutAll(new GatewayError('draining', ''))
  assert.deepEqual([ended.cuts, runs.cuts], [[], ['draining']])
  second.remove()
  assert.deepEqual(running.keyIds(), [])
})
