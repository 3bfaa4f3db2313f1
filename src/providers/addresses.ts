// Where upstream connections may never go: the addresses at which clouds hand out credentials to whoever asks from
// inside. The check is made on the address that is connected to, so a name cannot point somewhere else afterwards.
import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns'
import { BlockList, isIP, isIPv6 } from 'node:net'

import { GatewayError } from '../core/errors.ts'

const METADATA = new BlockList()
METADATA.addSubnet('169.254.0.0', 16, 'ipv4')
METADATA.addAddress('100.100.100.200', 'ipv4')
METADATA.addAddress('168.63.129.16', 'ipv4')
METADATA.addAddress('192.0.0.192', 'ipv4')
METADATA.addSubnet('fe80::', 10, 'ipv6')
METADATA.addAddress('fd00:c1::a9fe:a9fe', 'ipv6')
METADATA.addAddress('fd00:ec2::254', 'ipv6')
METADATA.addAddress('fd20:ce::254', 'ipv6')

/** Refuses an address that is written out; names are checked when they are resolved. */
export function assertAllowedHost(hostname: string): void {
  if (isForbiddenHost(hostname)) throw forbidden(hostname)
}

export function isForbiddenHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isIP(address) !== 0 && isForbidden(address)
}

type LookupCallback = (
  error: Error | null,
  address: string | LookupAddress[],
  family?: number,
) => void

/** As `dns.lookup`, but fails for a name that leads to a forbidden address. */
export function checkedLookup(
  hostname: string,
  options: LookupOptions,
  callback: LookupCallback,
): void {
  lookup(hostname, options, (error, address, family) => {
    if (error !== null) return callback(error, address, family)
    const addresses = typeof address === 'string' ? [address] : address.map((one) => one.address)
    const bad = addresses.find(isForbidden)
    callback(bad === undefined ? null : forbidden(bad), address, family)
  })
}

/** BlockList sees through IPv4 addresses that are written as IPv6 (`::ffff:169.254.169.254`). */
function isForbidden(address: string): boolean {
  return METADATA.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function forbidden(address: string): GatewayError {
  return new GatewayError('provider_failed', 'the provider cannot be reached', {
    cause: new Error(
      `${address} is an address of a cloud's metadata service: no provider may be there`,
    ),
    shouldRetry: false,
    unbilled: true,
  })
}
