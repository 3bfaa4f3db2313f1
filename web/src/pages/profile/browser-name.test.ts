// The display name of a User-Agent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserName } from './browser-name.ts'

for (const [agent, name] of [
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
    'Chrome, Linux',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge, Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1',
    'Safari, iOS',
  ],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', undefined],
  [null, undefined],
] as const)
  test(`${agent} is ${name}`, () => assert.equal(browserName(agent), name))
