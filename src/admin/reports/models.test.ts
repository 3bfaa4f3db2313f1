// A model's health is reported no better than its targets are known to be.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { healthOf } from './models.ts'

test('a model has the health of its targets, and is degraded if only some of them fail', () => {
  for (const [standings, health] of [
    [['uncalled'], 'uncalled'],
    [['uncalled', 'uncalled'], 'uncalled'],
    [['answering', 'uncalled'], 'answering'],
    [['failing'], 'failing'],
    [['failing', 'resting'], 'failing'],
    [['resting', 'resting'], 'resting'],
    [['answering', 'resting'], 'degraded'],
    [['failing', 'uncalled'], 'degraded'],
  ] as const)
    assert.equal(healthOf(standings), health, standings.join(', '))
})
