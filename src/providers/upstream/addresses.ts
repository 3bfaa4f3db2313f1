// Where upstream connections may never go: the addresses at which clouds hand out credentials to any caller inside.
// The check is made on the address that is connected to, so a name cannot point somewhere else afterwards.
import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { GatewayError } from '../../core/errors.ts'

const IPV4 = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const
const IPV6 = [
  ['fe80::', 10],
  ['fd00:c1::a9fe:a9fe', 128],
  // All of Amazon's range: ::254 serves the credentials of machines, ::23 those of pods.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  // 169.254.0.0/16 through a 6to4 tunnel (RFC 3056).
  ['2002:a9fe::', 32],
] as const
/**
 * Prefixes under which a network without IPv4 reaches IPv4 addresses through a translator (RFC 6052, RFC 8215, RFC 2765)
 * or a tunnel (RFC 4291).
 */
const TRANSLATED = ['64:ff9b::', '64:ff9b:1::', '::ffff:0:', '::']

const METADATA = new BlockList()
for (const [address, bits] of IPV4) {
  METADATA.addSubnet(address, bits, 'ipv4')
  for (const start of TRANSLATED) METADATA.addSubnet(start + address, 96 + bits, 'ipv6')
}
for (const [address, bits] of IPV6) METADATA.addSubnet(address, bits, 'ipv6')

/** Refuses a literal address; names are checked when they are resolved. */
export function assertAllowedHost(hostname: string): void {
  if (isForbiddenHost(hostname)) throw forbidden(hostname)
}

export function isForbiddenHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isIP(address) !== 0 && isForbidden(address)
}

/** The code of the error's cause, for callers whose messages do not mention providers. */
export const METADATA_CODE = 'METADATA_ADDRESS'

type LookupCallback = (
  error: Error | null,
  address: string | LookupAddress[],
  family?: number,
) => void

/** Like `dns.lookup`, but fails for a name that resolves to a forbidden address. */
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

/** BlockList recognizes IPv4 addresses written as IPv6 (`::ffff:169.254.169.254`). */
function isForbidden(address: string): boolean {
  return METADATA.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function forbidden(address: string): GatewayError {
  return new GatewayError('provider_failed', 'the provider cannot be reached', {
    cause: Object.assign(
      new Error(`${address} is an address of a cloud's metadata service: nothing is sent there`),
      { code: METADATA_CODE },
    ),
    shouldRetry: false,
    unbilled: true,
  })
}
