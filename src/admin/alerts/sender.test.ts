// The message about an undelivered webhook names the host and what happened, and never a provider.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import { webhookFailure } from './sender.ts'

const url = new URL('https://hooks.example.com/tollgate')
const system = (code: string) => Object.assign(new Error(`failed: ${code}`), { code })
const around = (cause: unknown) =>
  new GatewayError('provider_failed', 'the provider could not be reached', { cause })

for (const [thrown, told] of [
  [around(system('ENOTFOUND')), 'there is no host with this name (hooks.example.com)'],
  [
    around(system('ECONNREFUSED')),
    'the connection was refused: nothing listens at this address (hooks.example.com)',
  ],
  [
    around(system('DEPTH_ZERO_SELF_SIGNED_CERT')),
    'the certificate of hooks.example.com is not valid (DEPTH_ZERO_SELF_SIGNED_CERT)',
  ],
  [
    around(around(system('METADATA_ADDRESS'))),
    "this is the address of a cloud's metadata service: nothing is sent there (hooks.example.com)",
  ],
  [around(system('ERR_SOMETHING')), 'the connection to hooks.example.com failed: ERR_SOMETHING'],
  [
    around(around(new Error('this address is forbidden'))),
    'the connection to hooks.example.com failed: this address is forbidden',
  ],
  [
    new GatewayError('provider_timeout', 'the provider did not answer in time'),
    'hooks.example.com did not answer in time',
  ],
  [around(undefined), 'the connection to hooks.example.com failed'],
] as const)
  test(told, () => assert.equal(webhookFailure(thrown, url).text, told))
