// Which address is believed, and that no more of it is kept than the operator wants.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressList, clientAddress, isAddressOrNetwork, keptAddress } from './address.ts'

const from = (remoteAddress: string | undefined, forwardedFor?: string) => ({
  remoteAddress,
  forwardedFor,
})

test('without trusted proxies only the connection counts', () => {
  const nobody = addressList([])
  assert.equal(clientAddress(from('203.0.113.7', '198.51.100.1'), nobody), '203.0.113.7')
  assert.equal(clientAddress(from('::ffff:203.0.113.7'), nobody), '203.0.113.7')
  assert.equal(clientAddress(from('fe80::1%eth0'), nobody), 'fe80::1')
  assert.equal(clientAddress(from(undefined), nobody), undefined)
})

test('of what trusted proxies pass on, the nearest address that is not theirs counts', () => {
  const proxies = addressList(['10.0.0.0/8', '2001:db8::1'])
  const found = (forwarded?: string) => clientAddress(from('10.1.2.3', forwarded), proxies)
  assert.equal(found('198.51.100.1'), '198.51.100.1')
  assert.equal(found('6.6.6.6, 198.51.100.1, 2001:db8::1'), '198.51.100.1')
  assert.equal(found('198.51.100.1, unknown'), undefined)
  assert.equal(found('10.9.9.9'), undefined)
  assert.equal(found(), undefined)
})

test('addresses and networks are told from everything else', () => {
  for (const right of ['10.1.2.3', '10.0.0.0/8', '::1', '2001:db8::/32', '0.0.0.0/0'])
    assert.ok(isAddressOrNetwork(right), right)
  for (const wrong of ['', 'proxy', '10.0.0.0/33', '::1/129', '10.0.0.1/', '10.0.0.0/8/8', '1.2.3'])
    assert.ok(!isAddressOrNetwork(wrong), wrong)
})

test('a prefix is the network of a customer', () => {
  for (const [address, network] of [
    ['203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:DB8::7', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['1:02:0003::', '1:2:3::/48'],
  ] as const) {
    assert.equal(keptAddress(address, 'prefix'), network)
    assert.equal(keptAddress(address, 'full'), address)
    assert.equal(keptAddress(address, 'none'), null)
  }
  assert.equal(keptAddress(undefined, 'full'), null)
})
