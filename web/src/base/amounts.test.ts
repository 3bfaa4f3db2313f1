// Arithmetic and comparison of amounts are exact at any size.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMore, isSame, minus, sumOf } from './amounts.ts'

test('differences are exact', () => {
  assert.equal(minus('0.3', '0.1'), '0.2')
  assert.equal(minus('2450', '2000'), '450')
  assert.equal(minus('9000000.000000002', '9000000.000000001'), '0.000000001')
  assert.equal(minus('1', '2'), '0')
})

test('sums are exact', () => {
  assert.equal(sumOf(['0.1', '0.2', '1000000.000000001']), '1000000.300000001')
  assert.equal(sumOf([]), '0')
})

test('comparisons are exact', () => {
  assert.equal(isMore('9000000.000000001', '9000000'), true)
  assert.equal(isMore('5.00', '5'), false)
  assert.equal(isSame('5.00', '5'), true)
  assert.equal(isSame(null, '5'), false)
})
