// What a failed command prints for the person who ran it.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { FailureError, problemsOf } from './failure.ts'

test('an error that people can fix is printed without a stack trace', () => {
  assert.deepEqual(problemsOf(new FailureError('one\ntwo')), ['one', 'two'])
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
  assert.deepEqual(problemsOf(full), ['the database failed: database or disk is full'])
})

test('a bug is printed in full, for the report', () => {
  const [problem] = problemsOf(new TypeError('x is not a function'))
  assert.match(problem ?? '', /please report it:\nTypeError: x is not a function\n +at /)
})
