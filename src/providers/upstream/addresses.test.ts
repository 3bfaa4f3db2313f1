// No spelling of a metadata address gets through, and ordinary addresses do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import { assertAllowedHost, checkedLookup } from './addresses.ts'

test('metadata addresses are refused however they are written', () => {
  for (const host of [
    'http://169.254.169.254',
    'http://169.254.170.2',
    'http://0xA9FEA9FE',
    'http://2852039166',
    'http://0251.0376.0251.0376',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[fd00:ec2::254]',
    'http://[fd00:ec2::23]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[64:ff9b::a9fe:aa02]',
    'http://[64:ff9b:1::169.254.169.254]',
    'http://[64:ff9b::100.100.100.200]',
    'http://[::ffff:0:169.254.169.254]',
    'http://[::169.254.169.254]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[fd00:ec2:8000::1]',
    'http://[fe80::1]',
    'http://[febf::1]',
    'http://100.100.100.200',
    'http://168.63.129.16',
    'http://[fd20:ce::254]',
    'http://[fd00:c1::a9fe:a9fe]',
  ]) {
    assert.throws(() => assertAllowedHost(new URL(host).hostname), GatewayError, host)
  }
})

test('ordinary and private addresses are allowed', () => {
  for (const host of [
    ...['127.0.0.1', '10.0.0.5', '[::1]', 'api.example.com', '192.168.1.20'],
    ...['[64:ff9b::102:304]', '[fd00:ec3::1]'],
  ]) {
    assertAllowedHost(host)
  }
})

test('a name that resolves to a metadata address fails', async () => {
  for (const all of [true, false]) {
    const resolve = (name: string) =>
      new Promise((done, fail) => {
        checkedLookup(name, { all }, (error, address) => {
          if (error === null) done(address)
          else fail(error)
        })
      })
    await assert.rejects(resolve('169.254.169.254'), (error) => {
      assert.ok(error instanceof GatewayError)
      const { shouldRetry, unbilled } = error.details
      assert.deepEqual([shouldRetry, unbilled], [false, true], 'nothing was sent')
      return true
    })
    await resolve('localhost')
    await assert.rejects(resolve('no..name'), { code: 'ENOTFOUND' })
  }
})
