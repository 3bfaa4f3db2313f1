// Names of time zones are distinguished from everything else.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isTimezone, timezoneOf } from './timezone.ts'

for (const [name, expected] of [
  ['Europe/Berlin', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['', false],
  ['Mars/Olympus', false],
  ['+02:00', false],
  ['Europe/Berlin\0', false],
  ['../etc/passwd', false],
] as const) {
  test(`${JSON.stringify(name)} is ${expected ? 'a' : 'no'} time zone`, () =>
    assert.equal(isTimezone(name), expected))
}

for (const [name, spelled] of [
  ['europe/berlin', 'Europe/Berlin'],
  ['utc', 'UTC'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['Mars/Olympus', undefined],
] as const) {
  test(`${name} is spelled ${spelled}`, () => assert.equal(timezoneOf(name), spelled))
}
